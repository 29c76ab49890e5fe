// Command plot draws the table of a lake's growth, which it reads from standard input, as SVG to standard output.
package main

import (
	"log"
	"os"

	"dealflow/internal/bench/growth"
)

func main() {
	rows, err := growth.Read(os.Stdin)
	if err == nil {
		_, err = os.Stdout.WriteString(growth.Plot(rows))
	}
	if err != nil {
		log.Fatalln("plot:", err)
	}
}
