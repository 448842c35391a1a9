"""Hosts made of network namespaces whose links have a given latency and bandwidth, on one Linux machine, as root.

A host's packets come out of a TUN device and pass through a relay (this program, as a process of its own), which holds each back until its host's
uplink is free, for its length over the bandwidth, and for the latency, and counts bytes and packets. It needs no kernel module but tun."""
import ctypes
import fcntl
import heapq
import json
import os
import select
import signal
import struct
import subprocess
import sys
import time

MTU = 60000
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl_tcp_if_include": "10.78.0.0/24", "OMPI_MCA_oob_tcp_if_include": "10.78.0.0/24"}


def ip(*arguments):
    subprocess.run(["ip", *map(str, arguments)], check=True, capture_output=True)


def open_tun(namespace):
    """The TUN device "host" of a namespace, which this process serves."""
    libc = ctypes.CDLL(None, use_errno=True)
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(there, 0) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        iff_tun_without_header = 0x1001
        tun_set_iff = 0x400454CA
        fcntl.ioctl(tun, tun_set_iff, struct.pack("16sH", b"host", iff_tun_without_header))
    finally:
        libc.setns(here, 0)
        os.close(here)
        os.close(there)
    return tun


def relay(names, latency, bandwidth):
    """Passes packets on until SIGTERM, then prints what each host sent. `bandwidth` in bytes a second."""
    tuns = [open_tun(name) for name in names]
    place = {tun: k for k, tun in enumerate(tuns)}
    free = [0.0] * len(tuns)
    sent = [0] * len(tuns)
    packets = [0] * len(tuns)
    waiting = []
    count = 0
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    print("ready", flush=True)
    while not ended:
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, _, to, packet = heapq.heappop(waiting)
            try:
                os.write(tuns[to], packet)
            except OSError:
                pass  # the host is being taken down
        pause = min(0.1, max(0.0, waiting[0][0] - now)) if waiting else 0.1
        for tun in select.select(tuns, [], [], pause)[0]:
            for _ in range(64):
                try:
                    packet = os.read(tun, MTU + 100)
                except OSError:
                    break
                to = packet[19] - 1  # the last byte of the destination in an IPv4 header
                if packet[0] >> 4 != 4 or not 0 <= to < len(tuns):
                    continue
                k = place[tun]
                sent[k] += len(packet)
                packets[k] += 1
                free[k] = max(free[k], time.monotonic()) + len(packet) / bandwidth
                count += 1
                heapq.heappush(waiting, (free[k] + latency, count, to, packet))
    print(json.dumps({"bytes": sent, "packets": packets}), flush=True)


class ShapedHosts:
    """`with ShapedHosts(4, folder, 0.001, 1.25e8) as hosts: hosts.run(command)`: seconds of latency, bytes a second."""

    def __init__(self, count, folder, latency, bandwidth):
        self.names = [f"shaped{os.getpid()}-{k}" for k in range(count)]
        self.folder, self.latency, self.bandwidth = folder, latency, bandwidth

    def __enter__(self):
        try:
            return self.begin()
        except BaseException:
            self.__exit__()
            raise

    def begin(self):
        self.relay = None
        for name in self.names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            (self.folder / name).mkdir(exist_ok=True)
        self.relay = subprocess.Popen([sys.executable, __file__, str(self.latency), str(self.bandwidth), *self.names], stdout=subprocess.PIPE,
                                      text=True)
        if self.relay.stdout.readline() != "ready\n":
            raise RuntimeError("no TUN device")
        for k, name in enumerate(self.names):
            ip("-n", name, "addr", "add", f"10.78.0.{k + 1}/24", "dev", "host")
            ip("-n", name, "link", "set", "host", "mtu", MTU, "up")
        self.agent = self.folder / "agent.sh"
        self.agent.write_text(f"#!/bin/sh\nhost=$1\nshift\nname=shaped{os.getpid()}-$((${{host##*.}} - 1))\nexport TMPDIR={self.folder}/$name\n"
                              'exec ip netns exec "$name" unshare --uts sh -c "hostname $name; $*"\n')
        self.agent.chmod(0o755)
        return self

    def run(self, *command):
        """One process on each host; its standard output."""
        addresses = ",".join(f"10.78.0.{k + 1}" for k in range(len(self.names)))
        first = self.names[0]
        launch = ["ip", "netns", "exec", first, "unshare", "--uts", "sh", "-c", f'hostname {first}; exec mpirun "$@"', "mpirun", "--host", addresses,
                  "-n", str(len(self.names)), *map(str, command)]
        return subprocess.run(launch, check=True, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, **SETTINGS, "OMPI_MCA_plm_rsh_agent": str(self.agent)}).stdout

    def counted(self):
        """Ends the relay: bytes and packets that each host sent."""
        self.relay.terminate()
        output = self.relay.communicate()[0]
        self.relay = None
        return json.loads(output)

    def __exit__(self, *_):
        if self.relay is not None:
            self.relay.kill()
            self.relay.wait()
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


if __name__ == "__main__":
    relay(sys.argv[3:], float(sys.argv[1]), float(sys.argv[2]))
