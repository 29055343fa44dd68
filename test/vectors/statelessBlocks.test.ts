import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { executeStateless } from '#block/stateless'
import { createWasmEvm } from '#evm/wasmEvm'
import { interpreters } from '#test/harness/evm/interpreters'

type File = { fixture: { parent_header: { stateRoot: string } }; preimages: Record<string, string> }

/** A real block with all that its execution needs. */
function readBlock(number: number): File {
  const bytes = readFileSync(resolve(import.meta.dirname, `../fixtures/op-sepolia-${number}.json.zst`))
  return JSON.parse(zstdDecompressSync(bytes).toString('utf8'))
}

describe('block/stateless', () => {
  describe.each(interpreters)('$name', ({ create }) => {
    it.each([26207960, 26207962, 26208384])('OP Sepolia %i executes to its hash', (number) => {
      const result = executeStateless(create(), readBlock(number))
      expect(result).toMatchObject({ number, hash: result.expected })
    })
  })

  it('one flipped byte of any preimage is refused (WITNESS_INVALID)', () => {
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

  it('a preimage that is missing is named (WITNESS_INCOMPLETE)', () => {
    const file = readBlock(26207960)
    const { [file.fixture.parent_header.stateRoot.slice(2)]: _root, ...preimages } = file.preimages
    expect(() => executeStateless(createWasmEvm(), { ...file, preimages })).toThrow(expect.objectContaining({ code: 'WITNESS_INCOMPLETE' }))
  })
})
