"""Runs a program in a pseudo-terminal: COLUMNS ROWS PROGRAM ARGS. Reads keys and sizes from standard input, and writes what happens to standard output,
one JSON object a line each. A Node process cannot open a pseudo-terminal without a native module."""
import base64, fcntl, json, os, select, struct, subprocess, sys, termios

columns, rows, *command = sys.argv[1:]
master, slave = os.openpty()


def resize(columns, rows):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))


def tell(**event):
    print(json.dumps(event), flush=True)


def take_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


resize(columns, rows)
before = termios.tcgetattr(slave)
child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, preexec_fn=take_terminal)
lines = b""
while True:
    ready, _, _ = select.select([master, 0], [], [], 0.02)
    if master in ready:
        tell(out=base64.b64encode(os.read(master, 65536)).decode())
    elif child.poll() is not None:
        break
    if 0 in ready:
        chunk = os.read(0, 65536)
        if not chunk:
            child.kill()
        lines += chunk
        *whole, lines = lines.split(b"\n")
        for line in whole:
            event = json.loads(line)
            if "key" in event:
                os.write(master, event["key"].encode())
            if "resize" in event:
                resize(*event["resize"])
            if "signal" in event:
                child.send_signal(event["signal"])
tell(exit=child.returncode, restored=termios.tcgetattr(slave) == before)
