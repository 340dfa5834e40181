package setup

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// TestTenancy sets by command lines how far tenants are trusted.
func TestTenancy(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "capz-system")
	for name, test := range map[string]struct {
		reason     string
		arguments  []string
		tenancy    identity.Tenancy
		namespaces []string
		folder     string
		warns      bool
	}{
		"nothing": {"isolation is the default", nil, identity.Isolated, []string{"capz-system"},
			identity.DefaultCertificateFolder, false},
		"listed": {"the list is whole", []string{"--manager-identity-namespaces=a,b", "--identity-certificate-folder=/certs"},
			identity.Isolated, []string{"a", "b"}, "/certs", false},
		"trusted": {"trusted tenancy has no list of namespaces, and a warning in the log",
			[]string{"--tenancy=trusted"}, identity.Trusted, nil, "", true},
		"trusted, a folder": {"a folder that is named counts", []string{"--tenancy=trusted", "--identity-certificate-folder=/certs"},
			identity.Trusted, nil, "/certs", true},
	} {
		t.Run(name, func(t *testing.T) {
			options := &Options{}
			flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
			options.AddFlags(flags)
			if err := flags.Parse(test.arguments); err != nil {
				t.Fatal(err)
			}
			if err := options.Validate(); err != nil {
				t.Fatal(err)
			}
			var lines []string
			options.settleTenancy(funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
			got := options.Identity
			want := identity.Options{Tenancy: test.tenancy, ManagerNamespaces: test.namespaces, CertificateFolder: test.folder}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if warned := len(lines) == 1 && strings.Contains(lines[0], "Tenants are trusted"); warned != test.warns {
				t.Errorf("%s: the log has %q", test.reason, lines)
			}
		})
	}
}
