// Command distil writes the parts that tests need of the Azure Service Operator's module (MIT licence) into a directory: its recorded traffic of Azure, one
// file of JSON lines per resource type, and the properties of its API types. A newer version of the module is new data and no new code:
//
//	cd test/recordings && go run ./distil github.com/Azure/azure-service-operator/v2@v2.18.0 testdata
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

func distil(module, to string) error {
	raw, err := exec.Command("go", "mod", "download", "-json", module).Output()
	var source struct{ Dir, Error string }
	if json.Unmarshal(raw, &source) != nil || source.Dir == "" {
		return fmt.Errorf("go mod download %s: %w", module, errors.Join(err, errors.New(source.Error)))
	}
	for _, name := range []string{"exchanges", "types"} {
		if err := os.RemoveAll(filepath.Join(to, name)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(to, name), 0o755); err != nil {
			return err
		}
	}
	if err := writeExchanges(source.Dir, filepath.Join(to, "exchanges")); err != nil {
		return err
	}
	if err := writeTypes(source.Dir, filepath.Join(to, "types")); err != nil {
		return err
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
