"""The program `feeler`: python -m feeler."""

import sys

from ._feeler import run_program


def main():
    status, out, err = run_program(sys.argv[1:])
    sys.stdout.write(out)
    sys.stderr.write(err)
    return status


if __name__ == "__main__":
    sys.exit(main())
