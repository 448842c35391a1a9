"""Asks the server at a port for one list again and again, each time on a new connection, until its input ends. Writes a line for each request: when it
began and ended (time.monotonic) and whether the answer was the first one's. A process of its own, so that hostile clients do not hold it up."""
import http.client
import select
import sys
import time

PATIENCE = 20  # seconds at most on a loaded machine; it takes milliseconds
BODY = '{"history": ["i1"], "k": 3}'


def answer(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("POST", "/v1/recommend", BODY, {"Content-Type": "application/json"})
        found = connection.getresponse()
        return (found.status, found.read())
    except OSError as error:
        return repr(error)
    finally:
        connection.close()


def main():
    port = int(sys.argv[1])
    expected = answer(port)
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        begin = time.monotonic()
        found = answer(port)
        fine = found == expected and found[0] == 200
        print(begin, time.monotonic(), "fine" if fine else f"wrong {found}"[:200], flush=True)


main()
