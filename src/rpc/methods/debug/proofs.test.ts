import { expect, it } from 'vitest'
import type { ProofsStatus } from '#types/chainView'
import type { Hash } from '#types/ids'
import type { EthContext } from '../../context.ts'
import { proofsMethods } from './proofs.ts'

const idOf = (number: number) => ({ number, hash: `0x${number.toString(16).padStart(64, '0')}` as Hash })

/** Calls the method on a chain with recorded proofs. */
function ask(proofs: ProofsStatus | undefined): unknown {
  const chain = { view: () => ({ proofs, [Symbol.dispose](): void {} }) }
  const [method] = proofsMethods as unknown as readonly { run(context: EthContext): unknown }[]
  return method?.run({ chain } as unknown as EthContext)
}

it('rpc/methods/debug/proofs: answers the window with hashes, null before the first block, and −32601 without recorded proofs', () => {
  const [earliest, latest] = [idOf(7), idOf(9)]
  expect(ask({ window: { earliest, latest } })).toEqual({ earliest: 7, latest: 9, earliestBlock: earliest, latestBlock: latest })
  expect(ask({ window: undefined })).toEqual({ earliest: null, latest: null })
  expect(() => ask(undefined)).toThrow(expect.objectContaining({ code: -32_601 }))
})
