package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/inspect"
)

// sshFlags are the values of the flags of ssh.
type sshFlags struct {
	identityFile string
	user         string
	fingerprint  string
	environment  string
}

// NewSSHCommand returns the command ssh.
func NewSSHCommand(e *environment.Environment) *cobra.Command {
	f := &sshFlags{}
	cmd := &cobra.Command{
		Use:   "ssh MACHINE [-- COMMAND]",
		Short: "Open a shell on a machine, or run a command there",
		Long: "Connects to the SSH server of the virtual machine of a Machine, AzureMachine or AzureMachinePoolMachine: at its public IP address, through the\n" +
			"inbound NAT rule of the API server's load balancer, or through a bastion host with `az network bastion ssh`.\n\n" +
			"It uses the keys of the SSH agent, or the key of --identity-file. It compares the host key with the keys in the serial console log of the machine, which\n" +
			"Azure serves over HTTPS. If the log has no keys, set --host-key-fingerprint. A key that cannot be verified is refused. Through a bastion host,\n" +
			"az verifies the bastion host and not the machine.\n" +
			"The exit code is that of the command, or 1 after an error.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, arguments []string) error { return f.run(cmd, e, arguments[0], arguments[1:]) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&f.identityFile, "identity-file", "i", "", "file with the private key")
	fs.StringVarP(&f.user, "user", "l", "", "user on the machine (default: the administrator of the virtual machine)")
	fs.StringVar(&f.fingerprint, "host-key-fingerprint", "", "fingerprint of the host key of the machine, such as SHA256:...")
	addCloudFlag(cmd, &f.environment)
	return cmd
}

func (f *sshFlags) run(cmd *cobra.Command, e *environment.Environment, name string, command []string) error {
	ctx := cmd.Context()
	found, err := findTarget(cmd, e, name, f.environment)
	if err != nil {
		return err
	}
	route, err := inspect.FindRoute(ctx, found.azure, found.machine)
	if err != nil {
		return err
	}
	if f.user != "" {
		route.User = f.user
	}
	if route.Bastion != "" {
		return f.runBastion(cmd, e, found, route, command)
	}
	session := &inspect.Session{Dial: e.Dial, Fingerprint: f.fingerprint, In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr()}
	var closeAgent func()
	if session.Signers, closeAgent, err = f.readKeys(ctx, e); err != nil {
		return err
	}
	defer closeAgent()
	if f.fingerprint == "" {
		log, err := found.console.Read(ctx, found.machine)
		if err != nil {
			return fmt.Errorf("the host key cannot be verified: %w", err)
		}
		session.HostKeys = inspect.HostKeys(log)
	}
	if len(command) == 0 && e.OpenTerminal != nil {
		terminal, err := e.OpenTerminal()
		if err != nil {
			return err
		}
		if terminal != nil {
			defer terminal.Restore()
			session.HasTerminal, session.Width, session.Height, session.TerminalDriver = true, terminal.Width, terminal.Height, terminal.Kind
		}
	}
	// The shell of the machine splits the words again, as with ssh.
	err = session.Run(ctx, route, strings.Join(command, " "))
	var exit *ssh.ExitError
	if errors.As(err, &exit) {
		return environment.ExitStatusError{Status: exit.ExitStatus()}
	}
	return err
}

// runBastion lets az open the tunnel and start its SSH client.
func (f *sshFlags) runBastion(cmd *cobra.Command, e *environment.Environment, found *target, route *inspect.Route, command []string) error {
	arguments := route.BastionCommand(found.machine, f.identityFile)
	if len(command) > 0 {
		arguments = append(append(arguments, "--"), command...)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s is reached through %s. Running: az %s\n", found.machine.Name, route.Through, inspect.FormatCommand(arguments...))
	if e.RunInteractive == nil {
		return errors.New("az cannot be started here. Run the command yourself")
	}
	if err := e.RunInteractive(cmd.Context(), "az", arguments...); err != nil {
		return fmt.Errorf("az network bastion ssh, which needs the extensions bastion and ssh, and a bastion host with SKU Standard and tunneling: %w", err)
	}
	return nil
}

// maxKeyFile bounds a private key.
const maxKeyFile = 64 << 10

// readKeys returns the key of --identity-file, or those of the SSH agent.
func (f *sshFlags) readKeys(ctx context.Context, e *environment.Environment) (signers []ssh.Signer, closeAgent func(), err error) {
	closeAgent = func() {}
	if f.identityFile != "" {
		file, err := e.OpenFile(f.identityFile)
		if err != nil {
			return nil, closeAgent, err
		}
		defer func() { _ = file.Close() }()
		raw, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
		if err != nil {
			return nil, closeAgent, err
		}
		signer, err := ssh.ParsePrivateKey(raw)
		if err != nil {
			// The text of the error may quote the file.
			if errors.As(err, new(*ssh.PassphraseMissingError)) {
				return nil, closeAgent, fmt.Errorf("%s has a passphrase. Add it to the SSH agent with ssh-add, and leave out --identity-file", f.identityFile)
			}
			return nil, closeAgent, fmt.Errorf("%s has no private key that can be read", f.identityFile)
		}
		return []ssh.Signer{signer}, closeAgent, nil
	}
	if e.DialAgent != nil {
		connection, err := e.DialAgent(ctx)
		if err == nil {
			if signers, err = agent.NewClient(connection).Signers(); err == nil && len(signers) > 0 {
				return signers, func() { _ = connection.Close() }, nil
			}
			_ = connection.Close()
		}
	}
	return nil, closeAgent, errors.New("there is no private key. Set --identity-file, or start an SSH agent with ssh-agent and ssh-add")
}
