package identity

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/expiring"
)

// newCredential returns a credential made of the material. It sends no requests.
func (m *material) newCredential() (azcore.TokenCredential, error) {
	options := azcore.ClientOptions{Cloud: m.cloud, Transport: armclient.ForTokens(m.transport), Retry: policy.RetryOptions{MaxRetries: -1}}
	switch m.kind {
	case kindSecret:
		return azidentity.NewClientSecretCredential(m.tenantID, m.clientID, string(m.secret),
			&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: m.customAuthority})
	case kindCertificate:
		certificates, key, err := parseCertificate(m.certificate, m.password)
		if err != nil {
			return nil, err
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

// invalidTTL is the time after which material that gave an error is parsed again. The error depends on the material alone, and changed
// material has another key, so the time only bounds the memory.
const invalidTTL = 10 * time.Minute

// credentials caches credentials in use, because each has a cache of tokens.
type credentials struct {
	processKey []byte
	recent     *expiring.Cache[azcore.TokenCredential]
	// invalid has the errors of material, so that reconciliations do not parse the same certificate again and again.
	invalid *expiring.Cache[error]
}

func newCredentials(now func() time.Time) *credentials {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails, see its documentation
	return &credentials{processKey: key, recent: expiring.NewIdle[azcore.TokenCredential](unused, maxKept, now),
		invalid: expiring.New[error](invalidTTL, maxKept, now)}
}

// getOrCreate returns the cached credential or error of the material, or creates the credential. Calls for other material do not wait
// for it.
func (c *credentials) getOrCreate(m *material) (string, azcore.TokenCredential, error) {
	key := m.hashKey(c.processKey)
	credential, err := c.recent.GetOrMake(key, func() (azcore.TokenCredential, error) {
		if err, known := c.invalid.Get(key); known {
			return nil, err
		}
		credential, err := m.newCredential()
		if err != nil {
			c.invalid.Set(key, err)
		}
		return credential, err
	})
	if err != nil {
		message := fmt.Sprintf("%s: cannot create a %s credential", m.identity, m.kind)
		if m.source != "" {
			message += " from " + m.source
		}
		return "", nil, &Error{Code: CredentialsInvalid, Message: message, Err: err}
	}
	return key, credential, nil
}
