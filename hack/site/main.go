// Command site builds the documentation site from the Markdown pages of this repository.
//
//	cd hack/site && go run . -root ../.. -out ../../out/site
//
// Its promise: the same pages give the same site, byte for byte. It reads files below the root, writes only below the output folder, and
// sends no requests. The site needs no server and no other host: it works from a file system, also offline.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", "../..", "the folder of the repository")
	out := flag.String("out", "../../out/site", "the folder that the site is written to; it is replaced")
	version := flag.String("version", "", "the version that each page shows")
	flag.Parse()
	site, err := Build(os.DirFS(*root), *version)
	if err == nil {
		err = site.Write(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d pages, %d source files and %d sections to search are in %s\n", len(site.Pages), site.Sources, len(site.Sections), *out)
}
