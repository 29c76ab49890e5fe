// Package login lets those into the explorer who know its token.
//
// Takes: a token; requests.
// Gives: a form that sets a cookie; whether a request is admitted, by that cookie or by the header Authorization.
// Keeps: the token is compared in constant time, and is in no answer, cookie or log. A cookie ends after 12 hours, and with the
// process. A client has 10 tries a minute. A form of another site is refused.
// Fails: with 401 for a token that is wrong, 403 for a form of another site, 429 after too many tries.
// May change here: how long a cookie lasts.
package login
