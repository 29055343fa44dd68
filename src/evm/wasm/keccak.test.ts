import { keccak_256 } from '@noble/hashes/sha3.js'
import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { dice } from '#test/harness/dice'
import { addressOf, osaka, push, testAccount, testBlock, testTransaction } from '#test/harness/evm/host'
import { createWorld } from '#test/vectors/stateTestWorld'
import { createWasmEvm } from '../wasmEvm.ts'

const sender = addressOf(0x11)
const contract = addressOf(0x22)
const evm = createWasmEvm()

/** Returns code that copies the input to memory at `offset` and returns its hash. */
const hashesAt = (offset: number): `0x${string}` => `0x36${push(0)}${push(offset)}3736${push(offset)}20${push(0)}52${push(32)}${push(0)}f3`

it.each([0, 7])('evm keccak: KECCAK256 of each length up to 600, %i bytes into memory, equals another implementation', (offset) => {
  const roll = dice(offset)
  using session = evm.open(createWorld({ [contract]: testAccount({ code: hashesAt(offset) }) }).view, testBlock, osaka)
  for (let length = 0; length <= 600; length++) {
    const data = Uint8Array.from({ length }, () => roll(256))
    session.beginTransaction(testTransaction(sender))
    const { output } = session.run({ caller: sender, to: contract, value: 0n, data, gas: 1_000_000n })
    session.endTransaction()
    if (toHex(output) !== toHex(keccak_256(data)))
      expect({ length, hash: toHex(output) }).toEqual({ length, hash: toHex(keccak_256(data)) })
  }
})
