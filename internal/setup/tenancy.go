package setup

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"

	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// namespaceFile is the file with the namespace of a pod.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// addTenancyFlags registers the flags about the trust in users who select credentials.
func addTenancyFlags(fs *pflag.FlagSet, o *identity.Options) {
	fs.StringVar((*string)(&o.Tenancy), identity.TenancyFlag, string(identity.Isolated),
		fmt.Sprintf("Trust in %s: %s restricts credentials to their namespaces, %s lets every identity use every Secret and the manager's own credentials, and lets Secrets for resource manifests name the manager's own identities.",
			identity.CredentialSelectors, identity.Isolated, identity.Trusted))
	fs.StringSliceVar(&o.ManagerNamespaces, identity.ManagerNamespacesFlag, nil,
		fmt.Sprintf("Namespaces whose AzureClusterIdentities may use the manager's own token, the managed identities of its machine and its files, and whose Secrets for resource manifests may name its token and managed identities. List only namespaces in which you trust all users who may create clusters. The default is the manager's namespace. Only with --%s=%s.", identity.TenancyFlag, identity.Isolated))
	fs.StringVar(&o.CertificateFolder, identity.CertificateFolderFlag, "",
		fmt.Sprintf("Folder of the certificate files that spec.certPath of AzureClusterIdentities may name. The default is %s. With --%s=%s, all folders are allowed by default.",
			identity.DefaultCertificateFolder, identity.TenancyFlag, identity.Trusted))
}

// validateTenancy refuses unknown values of the flag.
func (o *Options) validateTenancy() error {
	switch o.Identity.Tenancy {
	case "", identity.Isolated, identity.Trusted:
		return nil
	}
	return fmt.Errorf("--%s: %q is not known, use %s or %s", identity.TenancyFlag, o.Identity.Tenancy, identity.Isolated, identity.Trusted)
}

// settleTenancy sets the defaults that depend on the manager's namespace and on another flag, and logs once if tenants are trusted.
func (o *Options) settleTenancy(log logr.Logger) {
	if o.Identity.Tenancy == identity.Trusted {
		log.Info("Tenants are trusted: "+identity.CredentialSelectors+" can use the manager's own identity, and an AzureClusterIdentity can use every Secret with a credential",
			"flag", "--"+identity.TenancyFlag, "value", identity.Trusted)
		return
	}
	o.Identity.CertificateFolder = cmp.Or(o.Identity.CertificateFolder, identity.DefaultCertificateFolder)
	if len(o.Identity.ManagerNamespaces) == 0 {
		if own := ownNamespace(); own != "" {
			o.Identity.ManagerNamespaces = []string{own}
		}
	}
}

// ownNamespace returns the namespace that the manager runs in, or "" outside of a pod.
func ownNamespace() string {
	raw, err := os.ReadFile(namespaceFile)
	if err != nil {
		return strings.TrimSpace(os.Getenv("POD_NAMESPACE"))
	}
	return strings.TrimSpace(string(raw))
}
