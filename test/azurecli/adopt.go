package azurecli

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/command"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// RunAdopt runs the command against the Azure of a stage.
func RunAdopt(stage *harness.Stage, arguments ...string) (printed, messages string, err error) {
	stage.T.Helper()
	credential, err := azidentity.NewClientSecretCredential(stage.Azure.TenantID, stage.Azure.ClientID, stage.Azure.ClientSecret,
		&azidentity.ClientSecretCredentialOptions{
			ClientOptions: azcore.ClientOptions{Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: stage.Azure.URL},
				Transport: stage.Azure.HTTP},
			DisableInstanceDiscovery: true,
		})
	if err != nil {
		stage.T.Fatal(err)
	}
	return RunCommand(stage, credential, arguments...)
}

// RunCommand runs the command as who has the credential, nil for whom the environment names, against the Azure and Kubernetes of a stage.
func RunCommand(stage *harness.Stage, credential azcore.TokenCredential, arguments ...string) (printed, messages string, err error) {
	stage.T.Helper()
	return runWith(stage, credential, func() (*rest.Config, error) { return stage.Environment.Config, nil }, arguments)
}

// ErrInterrupted is the error of a request that Interrupted cuts off.
var ErrInterrupted = errors.New("the connection broke")

// RunInterrupted is Run with a connection to Kubernetes that breaks at the write after the given number of them. Reads go on.
func RunInterrupted(stage *harness.Stage, writes int, arguments ...string) (printed, messages string, err error) {
	stage.T.Helper()
	config := rest.CopyConfig(stage.Environment.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &breaking{next: next, left: writes} })
	return runWith(stage, nil, func() (*rest.Config, error) { return config, nil }, arguments)
}

// breaking lets some writes through.
type breaking struct {
	next http.RoundTripper
	left int
}

func (b *breaking) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		if b.left == 0 {
			return nil, ErrInterrupted
		}
		b.left--
	}
	return b.next.RoundTrip(request)
}

func runWith(stage *harness.Stage, credential azcore.TokenCredential, kubernetes func() (*rest.Config, error), arguments []string) (printed,
	messages string, err error) {
	stage.T.Helper()
	cmd := command.NewCommand(command.Options{
		Identity: identity.Options{AuthorityHost: stage.Azure.URL, ResourceManagerEndpoint: stage.Azure.URL,
			ResourceManagerAudience: "https://management.core.windows.net/"},
		Transport: stage.Azure.HTTP, Credential: credential, Kubernetes: kubernetes,
	})
	var out, errs bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(arguments)
	err = cmd.ExecuteContext(stage.T.Context())
	return out.String(), errs.String(), err
}

// PageCommands returns the lines of the page about adoption that begin as one of these, in order.
func PageCommands(tb testing.TB, beginnings ...string) []string {
	tb.Helper()
	root, err := harness.ModuleDir("")
	if err != nil {
		tb.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "book", "aks", "adoption.md"))
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for block := range strings.SplitSeq(string(page), "```sh\n") {
		commands, _, _ := strings.Cut(block, "```")
		for line := range strings.Lines(commands) {
			if slices.ContainsFunc(beginnings, func(beginning string) bool { return strings.HasPrefix(line, beginning) }) {
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	if len(out) == 0 {
		tb.Fatalf("the page has no command that begins as %q", beginnings)
	}
	return out
}
