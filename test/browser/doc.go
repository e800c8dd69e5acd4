// Package browser holds the tests of what people see in a browser, in a real
// Chromium. test/ci/browser.sh provides for one and runs them, by the build tag
// browser; without it there is nothing here, and that is no error.
package browser
