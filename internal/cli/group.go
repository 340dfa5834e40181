package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// refuseUnknownVerbs makes commands that only have other commands refuse the names of others, as the root command does. Without this, a
// misspelt name shows the help and ends with success, and scripts continue.
func refuseUnknownVerbs(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if !cmd.HasSubCommands() || cmd.Runnable() {
			continue
		}
		cmd.Use, cmd.DisableFlagsInUseLine = cmd.Name()+" COMMAND", true
		cmd.Args, cmd.RunE = cobra.ArbitraryArgs, runGroup
		cmd.SetFlagErrorFunc(newGroupFlagError(cmd))
	}
}

// runGroup shows the help of a group. It returns an error if there is an argument, because no command of the group has its name.
func runGroup(group *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return group.Help()
	}
	message := fmt.Sprintf("unknown command %q for %q", arguments[0], group.CommandPath())
	group.SuggestionsMinimumDistance = 2 // As for the root command.
	if names := group.SuggestionsFor(arguments[0]); len(names) > 0 {
		message += "\n\nDid you mean this?\n\t" + strings.Join(names, "\n\t") + "\n"
	}
	return errors.New(message)
}

// newGroupFlagError returns the function for wrong flags of a group and of its commands. A misspelt name before a flag is the cause of the
// error: the flag is that of the command that the user means.
func newGroupFlagError(group *cobra.Command) func(*cobra.Command, error) error {
	return func(cmd *cobra.Command, err error) error {
		if arguments := cmd.Flags().Args(); cmd == group && len(arguments) > 0 {
			return runGroup(group, arguments)
		}
		return err
	}
}
