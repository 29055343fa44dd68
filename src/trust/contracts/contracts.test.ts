import { expect, it } from 'vitest'
import { bigintFromBytes, bytesFromBigint, concatBytes, padLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256, keccak256Of } from '#lib/keccak'
import { cloneCode, gameArguments, type Proposal, registry } from '#test/harness/trust/proposals'
import { parseAddress } from '#types/ids'
import { decodeGameCode, decodeGameState } from './game.ts'
import { decodeGameId, gameCountSlot, gameSlot } from './gameList.ts'
import { blacklistSlotOf, decodeRegistry } from './registry.ts'

const word = (value: bigint): Uint8Array => bytesFromBigint(value, 32)
const game = parseAddress(`0x${'6a'.repeat(20)}`)
const proposal: Proposal = { address: game, startBlock: 6_000, block: 12_000, roots: {} }

it('trust/contracts: slots follow from the layout of the contracts', () => {
  expect(gameCountSlot).toBe(toHex(word(104n)))
  const first = bigintFromBytes(keccak256(word(104n)))
  expect(gameSlot(0)).toBe(toHex(word(first)))
  expect(gameSlot(12_345)).toBe(toHex(word(first + 12_345n)))
  expect(blacklistSlotOf(game)).toBe(toHex(keccak256Of(padLeft(fromHex(game), 32), word(5n))))
})

it('trust/contracts: decodes an entry of the list, the registry, and the state of a game', () => {
  const id = (621n << 224n) | (1_795_000_000n << 160n) | BigInt(game)
  expect(decodeGameId(id)).toEqual({ type: 621, createdSec: 1_795_000_000, address: game })
  expect(decodeRegistry([BigInt(game), 621n | (1_780_000_000n << 32n)])).toEqual({ anchorGame: game, retirementSec: 1_780_000_000 })
  const state = 1_795_000_000n | (1_795_086_400n << 64n) | (2n << 128n) | (1n << 136n) | (1n << 144n)
  expect(decodeGameState([state, 5n, 6_000n, 0n, (2n << 64n) | 1_795_090_000n])).toEqual({
    createdSec: 1_795_000_000,
    status: 'defender wins',
    isInitialized: true,
    wasRespected: true,
    startRoot: toHex(word(5n)),
    startBlock: 6_000n,
    isCountered: false,
    proofs: 2,
  })
  expect(decodeGameState([0n, 0n, 0n, 1n, 0n])).toMatchObject({ isInitialized: false, isCountered: true, proofs: 0, status: 'in progress' })
  expect(decodeGameState([3n << 128n])).toMatchObject({ status: undefined })
})

it('trust/contracts: decodes the claim in the code of a game', () => {
  const claim = decodeGameCode(cloneCode(gameArguments(proposal)))
  expect(claim).toMatchObject({ block: 12_000n, parent: registry })
  expect(claim?.roots).toHaveLength(20)
  expect(claim?.roots.at(-1)).toBe(claim?.rootClaim)
})

it('trust/contracts: refuses code of another form', () => {
  const data = gameArguments(proposal)
  const good = cloneCode(data)
  expect(decodeGameCode(good)?.block).toBe(12_000n)
  const cases = [
    new Uint8Array(),
    good.subarray(0, -1),
    concatBytes(good, Uint8Array.of(0)),
    cloneCode(concatBytes(data, new Uint8Array(32))),
    cloneCode(data.subarray(32)),
    // another last root than the root claim
    cloneCode(data.with(20, (data[20] ?? 0) ^ 1)),
  ]
  for (const code of cases) expect(decodeGameCode(code)).toBeUndefined()
  for (let i = 0; i < 65; i++) expect(decodeGameCode(good.with(i, (good[i] ?? 0) ^ 1))).toBeUndefined()
})
