// Package credential has credentials for tests: a certificate, and, for those that ask a simulated Azure or a server of their own
// without Entra ID, a token that is there already and lasts longer than any test.
package credential

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Token is an access token, and the credential that always answers with it.
type Token string

// GetToken implements azcore.TokenCredential.
func (t Token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(t), ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}
