"""The program `feeler`: python -m feeler."""

import sys

from . import run


def main():
    status, out, err = run(sys.argv[1:])
    sys.stdout.write(out)
    sys.stderr.write(err)
    return status


if __name__ == "__main__":
    sys.exit(main())
