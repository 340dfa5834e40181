package command

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

func execCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "exec -- COMMAND [ARG...]",
		Short: "Run one command with the environment of the lab, which does not change your shell",
		Long: `Run one command with the variables of "lab env", so that your shell keeps its own proxy and certificates. The exit code is that of the
command.`,
		Example: `  lab exec -- kubectl get clusters
  lab exec -- sh -c 'clusterctl generate cluster second --infrastructure azure --worker-machine-count 1 | kubectl apply -f -'
  lab exec -- bash          # a shell of the lab; "exit" leaves it`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			environment := labEnvironment(s)
			path, err := lookPath(args[0], environment)
			if err != nil {
				return err
			}
			// The program takes the place of this one, so that it gets the signals of the terminal itself and ends as it chooses.
			return fmt.Errorf("%s: %w", path, syscall.Exec(path, append([]string{path}, args[1:]...), environment))
		},
	}
}

// labEnvironment returns the environment of this process with the variables of the lab, and the lab's programs first in PATH.
func labEnvironment(s *settings.Settings) []string {
	variables := management.ClientEnvironment(s)
	variables["PATH"] = filepath.Dir(s.BinaryPath("lab")) + string(os.PathListSeparator) + os.Getenv("PATH")
	out := slices.DeleteFunc(os.Environ(), func(each string) bool {
		name, _, _ := strings.Cut(each, "=")
		_, set := variables[name]
		return set
	})
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		out = append(out, name+"="+variables[name])
	}
	return out
}

// lookPath finds a program in the PATH of an environment.
func lookPath(name string, environment []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return name, nil
	}
	for _, each := range environment {
		if list, ok := strings.CutPrefix(each, "PATH="); ok {
			for _, folder := range filepath.SplitList(list) {
				if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
					return path, nil
				}
			}
		}
	}
	return "", fmt.Errorf("there is no program %q in the PATH of the lab", name)
}
