import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { executeStateless } from '#block/stateless'
import { createWasmEvm } from '#evm/wasmEvm'
import { interpreters } from '#test/harness/evm/interpreters'

type File = { fixture: { parent_header: { stateRoot: string } }; preimages: Record<string, string> }

/** Reads a real block with everything that its execution needs. */
function readBlock(number: number): File {
  const bytes = readFileSync(resolve(import.meta.dirname, `../fixtures/op-sepolia-${number}.json.zst`))
  return JSON.parse(zstdDecompressSync(bytes).toString('utf8'))
}

describe('block/stateless', () => {
  describe.each(interpreters)('$name', ({ create }) => {
    it.each([26207960, 26207962, 26208384])('executes OP Sepolia block %i to its hash', (number) => {
      const result = executeStateless(create(), readBlock(number))
      expect(result).toMatchObject({ number, hash: result.expected })
    })
  })

  it('rejects a flipped byte in any preimage (WITNESS_INVALID)', () => {
    const file = readBlock(26207960)
    const keys = Object.keys(file.preimages)
    for (const key of [keys[0], keys[100], keys.at(-1)]) {
      const bytes = Buffer.from(file.preimages[key as string] as string, 'hex')
      const at = bytes.length >> 1
      bytes[at] = (bytes[at] ?? 0) ^ 1
      const flipped = { ...file, preimages: { ...file.preimages, [key as string]: bytes.toString('hex') } }
      expect(() => executeStateless(createWasmEvm(), flipped)).toThrow(expect.objectContaining({ code: 'WITNESS_INVALID' }))
    }
  })

  it('reports a missing preimage by its hash (WITNESS_INCOMPLETE)', () => {
    const file = readBlock(26207960)
    const { [file.fixture.parent_header.stateRoot.slice(2)]: _root, ...preimages } = file.preimages
    expect(() => executeStateless(createWasmEvm(), { ...file, preimages })).toThrow(expect.objectContaining({ code: 'WITNESS_INCOMPLETE' }))
  })
})
