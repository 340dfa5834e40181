// Command pictures draws the pictures of the documentation as SVG files, from tables of boxes and arrows.
//
//	cd hack/site && go run ./pictures -out ../../docs/pictures
//
// Its promise: it is a pure function from the tables to the files. The pictures have colours for light and dark pages, and need no font
// and no other file.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "../../docs/pictures", "the folder that the pictures are written to")
	flag.Parse()
	for name, picture := range pictures {
		if err := os.WriteFile(filepath.Join(*out, name), picture.draw(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
