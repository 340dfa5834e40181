// Package browser has the tests of the documentation site in a browser: search, navigation, colours, narrow screens and the console.
//
// It needs Chromium, from PATH or from the variable CHROMIUM. `make site-test` installs Chromium on Debian if it is missing.
package browser
