// Command goals reads what `go test -bench` printed, from the files it is given, and prints the table of the
// project's goals with the figures measured: what docs/bench publishes.
//
// All goals but the sizes in memory and the seconds a person waits are ratios of figures from one
// execution, which say the same on a faster machine.
//
// With -guard it prints the few that CI checks for every change, and fails if one is missed.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	guard := flag.Bool("guard", false, "hold the figures against the guards, and fail where one is missed")
	flag.Parse()
	check := published
	if *guard {
		check = guarded
	}
	if err := check(flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "goals:", err)
		os.Exit(1) //nolint:forbidigo // a program of its own
	}
}

// published prints the table of goals.
func published(paths []string, out io.Writer) error {
	measured, err := readFiles(paths)
	if err != nil {
		return err
	}
	table(out, goals(), measured)
	return nil
}

// guarded prints the table of guards. A guard that is missed or was not measured is an error.
func guarded(paths []string, out io.Writer) error {
	measured, err := readFiles(paths)
	if err != nil {
		return err
	}
	if missed := table(out, guards(), measured); len(missed) > 0 {
		return fmt.Errorf("slower than it was: %s", strings.Join(missed, "; "))
	}
	return nil
}

// readFiles returns the results of each file.
func readFiles(paths []string) ([]results, error) {
	var all []results
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		measured := results{}
		err = measured.read(file)
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, measured)
	}
	return all, nil
}

// table prints goals and figures, and returns the names of the missed goals. The figures of a goal are those of one file, the
// first that has them: in one execution the machine was as fast for each of them, and by another hour it may be half as fast.
func table(out io.Writer, goals []goal, files []results) (missed []string) {
	fmt.Fprintln(out, "| goal | aim | measured | |")
	fmt.Fprintln(out, "|---|---|---|---|")
	for _, g := range goals {
		var f figure
		for i := 0; i < len(files) && !f.known; i++ {
			f = g.measure(files[i])
		}
		figure, verdict := g.show(f.value), " met "
		switch {
		case !f.known:
			figure, verdict = "not measured", " "
		case !g.met(f.value):
			verdict = " missed "
		}
		if verdict != " met " {
			missed = append(missed, g.name)
		}
		fmt.Fprintf(out, "| %s | %s | %s |%s|\n", g.name, g.aim(), figure, verdict)
	}
	return missed
}
