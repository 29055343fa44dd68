import { expect, it } from 'vitest'
import type { GenesisAccount } from '#chainspec/genesis'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { genesisState } from '#state/genesisState'
import { createWorldReads } from '#state/worldReads'
import { account, fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { verifyRange } from '#trie/rangeProof'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { ethRegistry } from '../../methods.ts'

type Leaf = { readonly key: Hex; readonly value: Hex }
type Answer = { readonly root: Hash; readonly leaves: readonly Leaf[]; readonly proof: readonly Hex[]; readonly isWhole: boolean }

const zeros = `0x${'00'.repeat(32)}` as Hex
const ones = `0x${'ff'.repeat(32)}` as Hex
const word = (value: bigint): Hash => hashFromBytes(bytesFromBigint(value, 32))

const contract = account(0x7777)
const accounts = Array.from({ length: 2_500 }, (_, i): GenesisAccount => {
  const storage = i === 9 ? Array.from({ length: 1_500 }, (_slot, n) => [word(BigInt(n)), BigInt(n + 1)] as const) : []
  return { address: i === 9 ? contract : account(i), nonce: 0n, balance: BigInt(i), code: new Uint8Array(), storage: new Map(storage) }
})
const { result, state } = genesisState(accounts)
const reads = createWorldReads(state, result.root)

async function ask(...params: unknown[]): Promise<Answer> {
  const chain = fakeChain([[]])
  const view = (): ReturnType<typeof chain.view> => ({ ...chain.view(), state: () => reads })
  return (await ethRegistry.get('basalt_stateRange')?.call(fakeContext({ ...chain, view }), params)) as Answer
}

/** Returns the next key in the order of keys. */
const after = (key: Hex): Hex => word(BigInt(key) + 1n)

/** Walks a whole trie as a client does, and verifies each answer. */
async function walk(owner: Hash | null, root: Hash): Promise<{ leaves: readonly Leaf[]; answers: number }> {
  const leaves: Leaf[] = []
  let answers = 0
  for (let first = zeros; ; ) {
    const { isWhole, ...answer } = await ask('latest', first, ones, owner)
    answers++
    const end = isWhole ? ones : (answer.leaves.at(-1)?.key ?? expect.fail('no leaf'))
    const range = { first: fromHex(first), last: fromHex(end) }
    const proved = answer.leaves.map(({ key, value }) => ({ key: fromHex(key), value: fromHex(value) }))
    expect(answer.root).toBe(root)
    expect(verifyRange(root, range, proved, answer.proof.map(fromHex))).toEqual({ kind: 'valid' })
    leaves.push(...answer.leaves)
    if (isWhole) return { leaves, answers }
    first = after(end)
  }
}

it('rpc/methods/basalt/stateRange: a client walks all accounts, and each answer proves that no account is missing', async () => {
  const { leaves, answers } = await walk(null, result.root)
  expect(leaves.map(({ key }) => key)).toEqual(accounts.map(({ address }) => toHex(keccak256(fromHex(address)))).toSorted())
  expect(answers).toBe(3)
})

it('rpc/methods/basalt/stateRange: a client walks the storage of an account; an account without storage has none', async () => {
  const owner = hashFromBytes(keccak256(fromHex(contract)))
  const { leaves } = await walk(owner, reads.account(contract)?.storageRoot ?? emptyRoot)
  expect(leaves).toHaveLength(1_500)
  expect(leaves.find(({ key }) => key === toHex(keccak256(fromHex(word(5n)))))?.value).toBe('0x06')
  const none = { root: emptyRoot, leaves: [], proof: [], isWhole: true }
  expect(await ask('latest', zeros, ones, word(1n))).toEqual(none)
  expect(await ask('latest', zeros, ones, hashFromBytes(keccak256(fromHex(account(3)))))).toEqual(none)
})

it('rpc/methods/basalt/stateRange: refuses a range that ends before its first key, keys of another length, and an unknown block', async () => {
  await expect(ask('latest', ones, zeros)).rejects.toMatchObject({ code: -32602, message: 'first is after last' })
  await expect(ask('latest', '0x00', ones)).rejects.toMatchObject({ code: -32602 })
  await expect(ask('latest', zeros, ones, '0x01')).rejects.toMatchObject({ code: -32602 })
  await expect(ask('0x99', zeros, ones)).rejects.toMatchObject({ code: -32001 })
})
