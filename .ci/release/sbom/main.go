// Command sbom prints the bill of materials of a Go binary as CycloneDX JSON: the modules that are linked into it, by the
// binary's own build information. The same binary gives the same bytes.
//
//	sbom BINARY VERSION
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: sbom BINARY VERSION")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{BOMRef: "dealflow", Type: cdx.ComponentTypeApplication, Name: "dealflow", Version: args[1]}}
	components := []cdx.Component{component(&debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, component(m))
	}
	bom.Components = &components
	return cdx.NewBOMEncoder(os.Stdout, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func component(m *debug.Module) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url}
}
