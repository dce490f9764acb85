/*
 * src/query/eval/like.h - text LIKE pattern.
 *     %        any characters, or none     [abc] [a-f]     one of them
 *     _        one character               [^abc] [^a-f]   one that is none of them
 * The whole text must match; case matters. The escape character, when there is one, makes the character
 * behind it stand for itself, in a set too. Brackets do the same for wildcards: [%] [_] [[].
 *
 * Where the language is silent: a bracket that never closes stands for itself, [] matches nothing and
 * [^] any character, and a pattern that ends with its escape character matches nothing.
 *
 * Promises
 * 1. Time is linear in text and pattern when what lies between two % holds no wildcard, and is at most
 *    their product otherwise: no pattern makes it go back over an earlier %.
 * 2. It stops when the operation's time is up; the failure is then the evaluation's.
 */
#pragma once
#include "query/eval/eval.h"

/* `escape` is one character, or empty. */
bool like_match(struct eval *eval, struct slice text, struct slice pattern, struct slice escape);
