// Command distil writes the parts that tests need of a module into a directory: its recorded traffic of Azure, one file of JSON lines per resource
// type, and the properties of its API types, if it has any. It knows the Azure Service Operator's module (MIT licence) and the client library of
// cloud-provider-azure (Apache License 2.0). A newer version of a module is new data and no new code:
//
//	cd test/recordings
//	go run ./distil github.com/Azure/azure-service-operator/v2@v2.18.0 testdata
//	go run ./distil sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1 testdata/azclient
//
// It replaces the files of the directory that it wrote before. It may be repeated.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: distil MODULE@VERSION DIRECTORY")
	}
	if err := distil(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// layout is where a module has its recordings: YAML files below its directory root whose path contains within.
type layout struct {
	root, within string
	hasTypes     bool
}

func layoutOf(module string) layout {
	if strings.HasPrefix(module, "sigs.k8s.io/cloud-provider-azure/pkg/azclient@") {
		return layout{within: "/testdata/"}
	}
	return layout{root: "internal", within: "/recordings/", hasTypes: true}
}

func distil(module, to string) error {
	raw, err := exec.Command("go", "mod", "download", "-json", module).Output()
	var source struct{ Dir, Error string }
	if json.Unmarshal(raw, &source) != nil || source.Dir == "" {
		return fmt.Errorf("go mod download %s: %w", module, errors.Join(err, errors.New(source.Error)))
	}
	from := layoutOf(module)
	names := []string{"exchanges"}
	if from.hasTypes {
		names = append(names, "types")
	}
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(to, name)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(to, name), 0o755); err != nil {
			return err
		}
	}
	if err := writeExchanges(filepath.Join(source.Dir, from.root), from.within, filepath.Join(to, "exchanges")); err != nil {
		return err
	}
	if from.hasTypes {
		if err := writeTypes(source.Dir, filepath.Join(to, "types")); err != nil {
			return err
		}
	}
	licence, err := os.ReadFile(filepath.Join(source.Dir, "LICENSE"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "LICENSE"), licence, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "SOURCE"), []byte(module+"\n"), 0o644)
}
