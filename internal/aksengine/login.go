package aksengine

import (
	"encoding/base64"
	"strings"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

// login has the users and keys of machines.
type login struct {
	user string
	keys []string
}

// providerUser is the user that the provider creates on each VM, with the key of sshPublicKey.
const providerUser = "capi"

// readLogin reads the user and the SSH keys of Linux machines.
func (c *conversion) readLogin() {
	profile := c.properties.get("linuxProfile")
	for i, item := range profile.get("ssh", "publicKeys").list() {
		key := item.get("keyData")
		if key.isEmpty() {
			continue
		}
		line := strings.TrimSpace(key.text())
		if errs := webhook.ValidateSSHPublicKey(base64.StdEncoding.EncodeToString([]byte(line)), nil); line == "" || len(errs) > 0 {
			key.report("It is not an SSH public key.", "Set sshPublicKey of the AzureMachineTemplates and AzureMachinePools.")
			continue
		}
		target := "users[0].sshAuthorizedKeys of the machines"
		if i == 0 {
			target = "sshPublicKey of the machines"
		}
		key.carry(target)
		c.login.keys = append(c.login.keys, line)
	}
	user := profile.get("adminUsername")
	if user.text() == providerUser || user.isEmpty() {
		user.replace("The provider creates this user.")
		c.login.user = ""
		return
	}
	if len(c.login.keys) == 0 {
		user.report("Without an SSH key there is no login. The provider creates the user "+providerUser+" with a random key.",
			"Set sshPublicKey of the AzureMachineTemplates and AzureMachinePools, and use the user "+providerUser+".")
		return
	}
	c.login.user = user.carryText("users[0].name of the machines")
}

// sshPublicKey is the field of that name.
func (l *login) sshPublicKey() string {
	if len(l.keys) == 0 {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(l.keys[0]))
}

// users returns the users of machines beside the one of the provider.
func (l *login) users(windows bool) []bootstrapv1.User {
	switch {
	case len(l.keys) == 0:
		return nil
	case windows:
		return []bootstrapv1.User{{Name: providerUser, Groups: "Administrators", SSHAuthorizedKeys: l.keys}}
	case l.user != "":
		return []bootstrapv1.User{{Name: l.user, Sudo: "ALL=(ALL) NOPASSWD:ALL", SSHAuthorizedKeys: l.keys}}
	case len(l.keys) > 1:
		return []bootstrapv1.User{{Name: providerUser, SSHAuthorizedKeys: l.keys}}
	}
	return nil
}
