"""Hosts made of network namespaces with TCP between them, for tests that cut one off."""
import os
import shutil
import signal
import subprocess

import pytest

from conftest import environment


def ip(*arguments):
    return subprocess.run(["ip", *map(str, arguments)], capture_output=True, text=True, check=True).stdout


class Hosts:
    """Namespaces on one bridge, which lies in the first; `mpirun` starts there and reaches the others by a script in the place of ssh."""

    def __init__(self, count, folder):
        self.names = [f"poise{os.getpid()}-{k}" for k in range(count)]
        self.agent = folder / "agent.sh"
        self.agent.write_text("#!/bin/sh\n# HOST COMMAND..., as ssh takes them\nhost=$1\nshift\n"
                              f"name=poise{os.getpid()}-$((${{host##*.}} - 1))\n"
                              f"export TMPDIR={folder}/$name\n"
                              'exec ip netns exec "$name" unshare --uts sh -c "hostname $name; $*"\n')
        self.agent.chmod(0o755)
        for name in self.names:
            (folder / name).mkdir()

    def __enter__(self):
        try:
            first = self.names[0]
            for name in self.names:
                ip("netns", "add", name)
                ip("-n", name, "link", "set", "lo", "up")
            ip("-n", first, "link", "add", "bridge", "type", "bridge")
            ip("-n", first, "addr", "add", "10.77.0.1/24", "dev", "bridge")
            ip("-n", first, "link", "set", "bridge", "up")
            for k, name in enumerate(self.names[1:], 1):
                ip("link", "add", "host", "netns", name, "type", "veth", "peer", "name", f"port{k}", "netns", first)
                ip("-n", first, "link", "set", f"port{k}", "master", "bridge", "up")
                ip("-n", name, "addr", "add", f"10.77.0.{k + 1}/24", "dev", "host")
                ip("-n", name, "link", "set", "host", "up")
            for name in self.names:
                # A connection is given up after some seconds instead of a quarter of an hour.
                subprocess.run(["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", "hostname there && echo 3 > /proc/sys/net/ipv4/tcp_retries2"],
                               capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            self.__exit__()
            pytest.skip(f"no network namespaces here: {getattr(error, 'stderr', None) or error}")
        return self

    def __exit__(self, *_):
        for k, name in enumerate(self.names):
            self.kill(k)
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)

    def begin(self, which, *command):
        """mpirun, with one process on each of these hosts."""
        addresses = ",".join(f"10.77.0.{k + 1}" for k in which)
        variables = environment(OMPI_MCA_btl="self,tcp", OMPI_MCA_btl_tcp_if_include="10.77.0.0/24", OMPI_MCA_oob_tcp_if_include="10.77.0.0/24",
                                OMPI_MCA_plm_rsh_agent=str(self.agent), OMPI_MCA_oob_tcp_keepalive_time="2", OMPI_MCA_oob_tcp_keepalive_intvl="1",
                                OMPI_MCA_oob_tcp_keepalive_probes="2")
        launch = ["ip", "netns", "exec", self.names[0], "unshare", "--uts", "sh", "-c", f'hostname {self.names[0]}; exec mpirun "$@"', "mpirun",
                  "--host", addresses, "-n", str(len(which))]
        return subprocess.Popen([*launch, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)

    def processes(self, k):
        found = subprocess.run(["ip", "netns", "pids", self.names[k]], capture_output=True, text=True)
        return [int(pid) for pid in found.stdout.split()]

    def kill(self, k):
        """All that runs there, as when the power fails."""
        for pid in self.processes(k):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def cut_off(self, k):
        ip("-n", self.names[0], "link", "set", f"port{k}", "down")


def hosts_or_skip(count, folder):
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        pytest.skip("`ip netns` or `unshare` is missing (Debian: iproute2, util-linux)")
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    return Hosts(count, folder)
