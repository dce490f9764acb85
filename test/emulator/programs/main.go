// test/emulator/programs/main.go - starts the emulator by Testcontainers' module for Go, and prints where it is.
package main

import (
	"context"
	"fmt"

	"github.com/testcontainers/testcontainers-go/modules/azure/cosmosdb"
)

func main() {
	ctx := context.Background()
	emulator, err := cosmosdb.Run(ctx, "orrery:latest")
	if err != nil {
		panic(err)
	}
	defer emulator.Terminate(ctx)
	place, err := emulator.ConnectionString(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println("ready", place)
}
