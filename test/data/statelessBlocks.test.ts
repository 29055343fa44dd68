import { describe, expect, it } from 'vitest'
import { createReferenceEvm } from '#evm/referenceEvm'
import { executeStateless } from '#execution/stateless'
import { readSharedJson } from '#test/harness/sharedData'

type File = { fixture: Record<string, unknown>; preimages: Record<string, string> }

describe('execution/stateless', () => {
  it.each([26207960, 26207962, 26208384])('OP Sepolia %i executes to its hash', (number) => {
    const result = executeStateless(createReferenceEvm(), readSharedJson(`blocks/op-sepolia-${number}.json.zst`))
    expect(result).toMatchObject({ number, hash: result.expected })
  })

  it('one flipped byte of any preimage is refused (WITNESS_INVALID)', () => {
    const file = readSharedJson<File>('blocks/op-sepolia-26207960.json.zst')
    const keys = Object.keys(file.preimages)
    for (const key of [keys[0], keys[100], keys.at(-1)]) {
      const bytes = Buffer.from(file.preimages[key as string] as string, 'hex')
      const at = bytes.length >> 1
      bytes[at] = (bytes[at] ?? 0) ^ 1
      const flipped = { ...file, preimages: { ...file.preimages, [key as string]: bytes.toString('hex') } }
      expect(() => executeStateless(createReferenceEvm(), flipped)).toThrow(expect.objectContaining({ code: 'WITNESS_INVALID' }))
    }
  })

  it('a preimage that is missing is named (WITNESS_INCOMPLETE)', () => {
    const file = readSharedJson<File & { fixture: { parent_header: { stateRoot: string } } }>('blocks/op-sepolia-26207960.json.zst')
    const { [file.fixture.parent_header.stateRoot.slice(2)]: _root, ...preimages } = file.preimages
    expect(() => executeStateless(createReferenceEvm(), { ...file, preimages })).toThrow(
      expect.objectContaining({ code: 'WITNESS_INCOMPLETE' }),
    )
  })
})
