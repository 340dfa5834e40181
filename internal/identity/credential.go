package identity

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/expiring"
)

var errNoCertificate = errors.New("it must be PEM with the certificate and its key, or PKCS #12 that the password decrypts")

// newCredential returns a credential made of the material. It sends no requests.
func (m *material) newCredential() (azcore.TokenCredential, error) {
	options := azcore.ClientOptions{Cloud: m.cloud, Transport: armclient.ForTokens(m.transport), Retry: policy.RetryOptions{MaxRetries: -1}}
	switch m.kind {
	case kindSecret:
		return azidentity.NewClientSecretCredential(m.tenantID, m.clientID, string(m.secret),
			&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: m.customAuthority})
	case kindCertificate:
		certificates, key, err := azidentity.ParseCertificates(m.certificate, m.password)
		if err != nil {
			// The cause quotes the first bytes of the input, which may be any Secret or file.
			return nil, errNoCertificate
		}
		return azidentity.NewClientCertificateCredential(m.tenantID, m.clientID, certificates, key,
			&azidentity.ClientCertificateCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: m.customAuthority})
	case kindWorkload:
		return azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
			ClientOptions: options, DisableInstanceDiscovery: m.customAuthority,
			ClientID: m.clientID, TenantID: m.tenantID, TokenFilePath: m.tokenFile})
	case kindServiceAccount:
		return azidentity.NewClientAssertionCredential(m.tenantID, m.clientID, m.assertion,
			&azidentity.ClientAssertionCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: m.customAuthority})
	case kindManaged:
		// The metadata endpoint answers 404 and 410 while it starts, so its retries stay on.
		options.Retry = policy.RetryOptions{}
		return azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{
			ClientOptions: options, ID: azidentity.ClientID(m.clientID)})
	}
	return nil, fmt.Errorf("no credential of kind %q", m.kind)
}

// hashKey returns a keyed hash of all parts of the credential. Only this process has the hash's key, so the result reveals nothing
// about the secret and may be logged.
func (m *material) hashKey(processKey []byte) string {
	hash := hmac.New(sha256.New, processKey)
	manager := m.cloud.Services[cloud.ResourceManager]
	for _, part := range [][]byte{
		[]byte(m.kind), []byte(m.tenantID), []byte(m.clientID), m.secret, m.certificate, m.password, []byte(m.tokenFile), []byte(m.subject),
		[]byte(m.cloud.ActiveDirectoryAuthorityHost), []byte(manager.Endpoint), []byte(manager.Audience),
	} {
		// The length keeps ("a", "bc") and ("ab", "c") apart.
		_ = binary.Write(hash, binary.BigEndian, uint64(len(part)))
		hash.Write(part)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// unused is the time after which an unused entry is dropped. It is the lifetime of a token, so that little is lost.
const unused = time.Hour

// maxKept is the largest number of entries for identities in use; each identity may have a cluster of its own.
const maxKept = 4096

// credentials caches credentials in use, because each has a cache of tokens.
type credentials struct {
	processKey []byte
	recent     *expiring.Cache[azcore.TokenCredential]
}

func newCredentials(now func() time.Time) *credentials {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails, see its documentation
	return &credentials{processKey: key, recent: expiring.NewIdle[azcore.TokenCredential](unused, maxKept, now)}
}

// getOrCreate returns the cached credential of the material, or creates it. Errors are not cached.
func (c *credentials) getOrCreate(m *material) (string, azcore.TokenCredential, error) {
	key := m.hashKey(c.processKey)
	credential, err := c.recent.GetOrMake(key, m.newCredential)
	if err != nil {
		return "", nil, &Error{Code: CredentialsInvalid, Message: fmt.Sprintf("%s: cannot create a %s credential", m.identity, m.kind), Err: err}
	}
	return key, credential, nil
}
