/*
 * src/resource/figures.h - how a container's items lie in its ranges, for a client that asks for it when it reads the
 * container.
 */
#pragma once
#include "resource/call.h"

/*
 * Prints the array: {"id","sizeInKB","documentCount","partitionKeys"} of each range. Items are counted where they are
 * few. Of many the ranges are told what their shares of the keys suggest, as the service's figures are estimates, too.
 */
enum status figures_print(struct op *op, const struct container *container, struct buf *out);
