package harness

import (
	"fmt"
	"os"
	"strings"

	"github.com/google/uuid"
	"k8s.io/client-go/rest"
)

// administrator is the user that tests are.
const administrator = "administrator"

// tokens are those of the users of an API server. They spare it the certificate of a client, which it would verify anew with each
// request.
type tokens struct {
	file   string
	byUser map[string]string
}

// newTokens makes a token for each user, who is in a group, "" for none. The API server reads the file when it starts:
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
func newTokens(groups map[string]string) (*tokens, error) {
	t := &tokens{byUser: map[string]string{}}
	var lines strings.Builder
	for user, group := range groups {
		t.byUser[user] = uuid.NewString()
		fmt.Fprintf(&lines, "%s,%s,%s", t.byUser[user], user, user)
		if group != "" {
			fmt.Fprintf(&lines, ",%q", group)
		}
		lines.WriteString("\n")
	}
	file, err := os.CreateTemp("", "tokens-*.csv")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	t.file = file.Name()
	_, err = file.WriteString(lines.String())
	return t, err
}

// configFor returns a copy of a configuration in which a user authenticates to the same API server.
func (t *tokens) configFor(other *rest.Config, user string) *rest.Config {
	config := rest.AnonymousClientConfig(other)
	config.BearerToken = t.byUser[user]
	return config
}

func (t *tokens) removeFile() { _ = os.Remove(t.file) }
