// Command immutable writes the CEL rules of fields that cannot change. A line in a file of types
//
//	// +capz:immutable:field=".spec.osType",default="'Linux'",guard="agentPoolMade",because="after the agent pool was created; create a new pool"
//
// gets the marker of controller-gen for it as the next line, in place of the present one.
//
//	go run ./hack/immutable DIRECTORY
//
// field is the path of the field below the type or field that the marker is on. default is the value, in CEL, that an
// absent field counts as. Without default, as selects how absence counts:
//
//	exact     the field is always there
//	optional  absent is a value of its own
//	once      it can be set once
//	text      absent and "" are the same
//	flag      absent and false are the same
//
// guard names a condition under which the field can still change.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/immutable DIRECTORY")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(directory string) error {
	files, err := filepath.Glob(filepath.Join(directory, "*_types.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		before, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		after, err := rewrite(before)
		if err != nil {
			return fmt.Errorf("%s:%w", file, err)
		}
		if !bytes.Equal(before, after) {
			if err := os.WriteFile(file, after, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
