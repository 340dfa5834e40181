package standin

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"math/big"
	"net/http"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// rsaBits is the length of the keys that Azure makes: https://learn.microsoft.com/azure/virtual-machines/ssh-keys-azure-cli
const rsaBits = 3072

// keyPairs lets a type of SSH public keys create key pairs. Azure keeps the public key alone and answers with the private one once. Source:
// https://learn.microsoft.com/rest/api/compute/ssh-public-keys/generate-key-pair and SDK model SSHPublicKeyGenerateKeyPairResult.
func keyPairs(t *provider.Type) {
	makeSynchronous(t)
	// Recorded in sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1, sshpublickeyresourceclient.
	t.View = func(_ *provider.Call, it *provider.Item) { body.Default(it.Body, "properties", body.Object{}) }
	t.Actions = map[string]*provider.Action{"generatekeypair": {Timing: provider.Timing{HTTP: t.Create.HTTP}, Start: generateKeyPair}}
}

func generateKeyPair(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
	var private *pem.Block
	var public string
	switch kind := body.String(c.Body, "encryptionType"); strings.ToLower(kind) {
	case "", "rsa":
		key, err := rsa.GenerateKey(rand.Reader, rsaBits)
		if err != nil {
			return nil, err
		}
		private = &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
		public = publicKey("ssh-rsa", encodeMPInt(big.NewInt(int64(key.E))), encodeMPInt(key.N))
	case "ed25519":
		key, secret, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		raw, err := x509.MarshalPKCS8PrivateKey(secret)
		if err != nil {
			return nil, err
		}
		// That the key is in PKCS #8 is an assumption: the REST API names the form of RSA keys only.
		private = &pem.Block{Type: "PRIVATE KEY", Bytes: raw}
		public = publicKey("ssh-ed25519", key)
	default:
		return nil, provider.Errorf(http.StatusBadRequest, "InvalidParameter", "The value '%s' of parameter 'encryptionType' is invalid.",
			kind).WithTarget("encryptionType")
	}
	stored := c.Edit(r.ID)
	body.Set(stored.Body, "properties.publicKey", public)
	c.SaveResource(stored)
	return provider.OK(body.Object{"id": r.ID, "privateKey": string(pem.EncodeToMemory(private)), "publicKey": public}), nil
}

// publicKey returns a key as in authorized_keys: its kind, and its parts, each with its length in front.
// Source: https://www.rfc-editor.org/rfc/rfc4253#section-6.6
func publicKey(kind string, parts ...[]byte) string {
	var raw []byte
	for _, part := range append([][]byte{[]byte(kind)}, parts...) {
		raw = append(binary.BigEndian.AppendUint32(raw, uint32(len(part))), part...)
	}
	return kind + " " + base64.StdEncoding.EncodeToString(raw) + " generated-by-azure"
}

// encodeMPInt returns a positive number, whose first bit is 0.
func encodeMPInt(n *big.Int) []byte {
	raw := n.Bytes()
	if len(raw) > 0 && raw[0] >= 0x80 {
		raw = append([]byte{0}, raw...)
	}
	return raw
}
