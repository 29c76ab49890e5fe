// Command goals reads what `go test -bench` printed, from the files it is given, and prints the table of the
// project's goals with the figures measured: what docs/bench publishes.
//
// All goals but the sizes in memory and the seconds a person waits are ratios of figures from one
// execution, which say the same on a faster machine.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "goals:", err)
		os.Exit(1) //nolint:forbidigo // a program of its own
	}
}

func run(paths []string, out io.Writer) error {
	measured := results{}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		err = measured.read(file)
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	fmt.Fprintln(out, "| goal | aim | measured | |")
	fmt.Fprintln(out, "|---|---|---|---|")
	for _, g := range goals() {
		f := g.measure(measured)
		if !f.known {
			fmt.Fprintf(out, "| %s | %s | not measured | |\n", g.name, g.aim())
			continue
		}
		verdict := "met"
		if !g.met(f.value) {
			verdict = "missed"
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", g.name, g.aim(), g.show(f.value), verdict)
	}
	return nil
}
