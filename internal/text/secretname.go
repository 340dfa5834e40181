package text

import "regexp"

// SecretNames is a regular expression of the ends of names of fields and properties whose values are secrets, in lower case. Messages, plans,
// logs and bundles hide their values. The names of Secrets end otherwise, in Name or Ref.
const SecretNames = `(?:password|passwd|secret|token|credential|kubeconfig|connectionstring|privatekey|sharedkey|accountkey|accesskey|storagekey|apikey|sas|` +
	`certificate|cacert|authorization|assertion|customdata|userdata|protectedsettings|commandtoexecute)s?(?:value|data)?`

var secretName = regexp.MustCompile(`(?i)` + SecretNames + `$`)

// IsSecretName reports whether a field or property of this name has a secret as its value.
func IsSecretName(name string) bool { return secretName.MatchString(name) }
