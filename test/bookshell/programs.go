package bookshell

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// ParseCommand parses the arguments of a command as it does before it runs, without running it: the verb, its flags, and which flags and
// how many arguments it needs. The command that it returns has the values.
func ParseCommand(root *cobra.Command, arguments []string) (*cobra.Command, error) {
	root.InitDefaultVersionFlag()
	command, rest, err := root.Find(arguments)
	if err != nil {
		return nil, err
	}
	command.InitDefaultHelpFlag()
	if err := command.ParseFlags(rest); err != nil {
		return nil, err
	}
	for _, name := range []string{"help", "version"} {
		if flag := command.Flags().Lookup(name); flag != nil && flag.Changed {
			return command, nil
		}
	}
	if !command.Runnable() {
		return nil, fmt.Errorf("%s needs a verb", command.CommandPath())
	}
	if err := command.ValidateArgs(command.Flags().Args()); err != nil {
		return nil, err
	}
	if err := command.ValidateRequiredFlags(); err != nil {
		return nil, err
	}
	return command, command.ValidateFlagGroups()
}

// NewMake plays make: the Makefile of the root offers the target in its help, and has the variable. check looks at the values of variables.
func NewMake(root string, check func(name, value string) error) Program {
	return func(call Call) (string, error) {
		makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
		if err != nil {
			return "", err
		}
		for _, word := range call.Arguments {
			name, value, is := strings.Cut(word, "=")
			if !is {
				if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(word) + `:.*## `).Match(makefile) {
					return "", fmt.Errorf("the Makefile has no target %s with a line of help", word)
				}
				continue
			}
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` \?=`).Match(makefile) {
				return "", fmt.Errorf("the Makefile has no variable %s", name)
			}
			if err := check(name, value); err != nil {
				return "", err
			}
		}
		return "", nil
	}
}

// NewForeign plays a program that cannot run in a test, and prints output. The table has the commands that pages use with their flags,
// without dashes; a program without subcommands has the command "". A call with another command or flag fails. So an author who adds one to
// a page has to look it up in the program's reference and add it to the table.
func NewForeign(table map[string]string, output string) Program {
	return func(call Call) (string, error) {
		flags, words := []string(nil), call.Arguments
		for length := len(words); ; length-- {
			if length < 0 {
				return "", fmt.Errorf("the table has no such command")
			}
			if line, known := table[strings.Join(words[:length], " ")]; known {
				flags, words = strings.Fields(line), words[length:]
				break
			}
		}
		for _, word := range words {
			if word == "--" {
				break
			}
			flag, is := strings.CutPrefix(word, "-")
			if !is {
				continue
			}
			flag, _, _ = strings.Cut(strings.TrimPrefix(flag, "-"), "=")
			if !slices.Contains(flags, flag) {
				return "", fmt.Errorf("the table has no flag %s of this command", word)
			}
		}
		return output, nil
	}
}
