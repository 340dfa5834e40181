// Package credential has a credential for tests that send requests to a simulated Azure, or to a server of their own without Entra ID: its
// token exists already and lasts longer than any test.
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
