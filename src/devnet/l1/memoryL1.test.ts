import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import { signed, signedBlob } from '#test/harness/chain/devnetTransactions'
import { addressOf, devnetL1Options, provenBlob, stranger, user } from '#test/harness/l1/devnetL1'
import { parseAddress } from '#types/ids'
import { type BlobSidecar, unwrapBlobTransaction, wrapBlobTransaction } from '#types/signing'
import { startMemoryL1 } from '../memoryL1.ts'
import type { DevnetL1 } from '../ports.ts'
import { leastGas } from './memoryCalls.ts'
import { MemoryChain } from './memoryChain.ts'

const chainOf = () => new MemoryChain(devnetL1Options)
const submit = (chain: MemoryChain, bytes: Uint8Array): string => {
  const submitted = chain.submit(bytes)
  return submitted.kind === 'refused' ? submitted.reason : 'waits'
}

describe('devnet/l1/memoryChain', () => {
  it.each<[string, (sidecar: BlobSidecar) => BlobSidecar, RegExp]>([
    ['a blob too many', (it) => ({ ...it, blobs: [...it.blobs, ...it.blobs] }), /2 blobs, 1 commitments/],
    ['no proof', (it) => ({ ...it, proofs: [] }), /0 proofs/],
    ['a short blob', (it) => ({ ...it, blobs: it.blobs.map((blob) => blob.subarray(1)) }), /131072 bytes/],
    ['a short proof', (it) => ({ ...it, proofs: it.proofs.map((proof) => proof.subarray(1)) }), /48 bytes/],
    ['another commitment', (it) => ({ ...it, commitments: it.proofs }), /commitment 0/],
    ['one blob proof in place of cell proofs', (it) => ({ ...it, kind: 'cells' }), /1 proofs for 1 hashes/],
  ])('refuses a blob transaction with %s', (_what, change, reason) => {
    const { raw } = signedBlob(0n)
    expect(submit(chainOf(), wrapBlobTransaction(raw, change(provenBlob.sidecar)))).toMatch(reason)
  })

  it('refuses a blob transaction without its sidecar; accepts cell proofs', () => {
    const { raw } = signedBlob(0n)
    const chain = chainOf()
    expect(submit(chain, raw)).toBe('blob transaction without sidecar')
    const proofs = Array.from({ length: 128 }, () => provenBlob.sidecar.proofs[0])
    expect(submit(chain, wrapBlobTransaction(raw, { ...provenBlob.sidecar, kind: 'cells', proofs }))).toBe('waits')
    expect(chain.mine().mined).toHaveLength(1)
    expect(chain.blob(provenBlob.hash)?.blob).toEqual(provenBlob.blob)
  })

  it.each([
    ['nothing', '0x', /rlp/],
    ['malformed RLP', '0x02ff', /rlp/],
    ['a deposit', '0x7ec0', /rlp|126/],
    ['a truncated transaction', toHex(signed(user, 0n).raw.subarray(0, 40)), /rlp/],
    ['a transaction of another chain', toHex(signed(user, 0n, { chainId: 901n }).raw), /chain id 901/],
  ])('refuses %s', (_what, bytes, reason) => {
    expect(submit(chainOf(), fromHex(bytes))).toMatch(reason)
  })

  it.each([
    { kind: 'plain', enough: 110n, make: (times: bigint) => signed(user, 0n, { value: times, times }).raw },
    { kind: 'with blobs', enough: 200n, make: (times: bigint) => signedBlob(0n, times).wrapped },
  ])('a replacement ($kind) must pay $enough percent', ({ make, enough }) => {
    const chain = chainOf()
    expect(submit(chain, make(100n))).toBe('waits')
    expect(submit(chain, make(100n))).toBe('already known')
    expect(submit(chain, make(enough - 1n))).toBe('replacement transaction underpriced')
    expect(submit(chain, make(enough))).toBe('waits')
    const [mined] = chain.mine().mined
    expect(mined?.raw).toEqual(unwrapBlobTransaction(make(enough)).raw)
  })

  it('orders by the highest tip, and by nonce per sender', () => {
    const chain = chainOf()
    for (const raw of [signed(user, 1n, { times: 300n }), signed(user, 0n), signed(stranger, 0n, { times: 200n })]) submit(chain, raw.raw)
    const order = chain.mine().mined.map(({ sender, tx }) => [sender, tx.nonce])
    expect(order).toEqual([
      [addressOf(stranger), 0n],
      [addressOf(user), 0n],
      [addressOf(user), 1n],
    ])
  })

  it('a block has a limited amount of gas; the rest waits for the next block', () => {
    const chain = chainOf()
    // the gas limit of a transaction must fit, not the gas it uses
    for (const nonce of [0n, 1n]) submit(chain, signed(user, nonce, { gasLimit: 29_980_000n }).raw)
    expect(chain.mine().mined).toHaveLength(1)
    expect(chain.mine().mined).toHaveLength(1)
  })

  it('a transaction below the base fee waits until the base fee has fallen', () => {
    const chain = chainOf()
    expect(submit(chain, signed(user, 0n, { times: 4n }).raw)).toBe('waits')
    expect(chain.mine().mined).toEqual([])
    while (chain.head.mined.length === 0) chain.mine()
    const { header, mined } = chain.head
    const [{ tx } = expect.fail()] = mined
    expect(header.baseFeePerGas).toBeLessThanOrEqual('maxFeePerGas' in tx ? tx.maxFeePerGas : 0n)
  })

  it('a block holds nine blobs, and their price rises above six', () => {
    const chain = chainOf()
    for (let nonce = 0n; nonce < 10n; nonce++) submit(chain, signedBlob(nonce).wrapped)
    expect(chain.mine().mined).toHaveLength(9)
    const block = chain.mine()
    expect(block.mined).toHaveLength(1)
    expect(block.header.excessBlobGas).toBe(3n * 131_072n)
  })

  it.each<[string, bigint | undefined, number, number]>([
    ['of a block', undefined, 29_900_000, 30_000_000],
    ['that the caller gives', 1_000_000n, 950_000, 1_000_000],
  ])('estimates the gas of a call that needs almost the limit %s', (_what, gas, above, below) => {
    const hex = (value: number) => value.toString(16).padStart(8, '0')
    // succeeds with more gas than `above` and less than `below`: GAS DUP1 PUSH4 LT SWAP1 PUSH4 GT AND PUSH1 JUMPI PUSH0 PUSH0 REVERT JUMPDEST STOP
    const code = fromHex(`0x5a8063${hex(above)}109063${hex(below)}11166016575f5ffd5b00`)
    const to = parseAddress(`0x${'aa'.repeat(20)}`)
    const chain = new MemoryChain({ ...devnetL1Options, contracts: [{ address: to, code, storage: new Map() }] })
    const call = { from: addressOf(user), to, value: 0n, data: new Uint8Array(), ...(gas !== undefined && { gas }) }
    const least = leastGas(chain, 0, call)
    expect(least).toBeGreaterThan(BigInt(above))
    expect(least).toBeLessThanOrEqual(BigInt(below))
  })

  it('serves the state of an earlier block while that block is canonical', () => {
    const chain = chainOf()
    chain.mine()
    submit(chain, signed(user, 0n, { value: 5n }).raw)
    chain.mine()
    expect([0, 1, 2].map((number) => chain.nonce(addressOf(user), 'mined', number))).toEqual([0n, 0n, 1n])
    chain.reorg(2)
    expect([0, 1, 2].map((number) => chain.nonce(addressOf(user), 'mined', number))).toEqual([0n, 0n, 0n])
  })
})

describe('devnet/memoryL1', () => {
  let l1: DevnetL1
  beforeAll(async () => {
    l1 = await startMemoryL1(devnetL1Options)
  })
  afterAll(() => l1[Symbol.asyncDispose]())
  const post = async (body: string) => {
    const answer = await fetch(l1.rpcUrl, { method: 'POST', body })
    return { status: answer.status, json: answer.status === 413 ? undefined : await answer.json() }
  }

  it('answers every posted body with JSON-RPC', async () => {
    expect(await post('{')).toMatchObject({ status: 400, json: { error: { code: -32_700 } } })
    expect(await post('null')).toMatchObject({ json: { error: { code: -32_601 } } })
    expect(await post('[]')).toMatchObject({ json: [] })
    expect(await post('{"id":7,"method":"eth_chainId"}')).toMatchObject({ json: { id: 7, result: '0x384' } })
    expect(await post('{"method":"constructor"}')).toMatchObject({ json: { error: { code: -32_601 } } })
    expect(await post('{"method":"eth_getBalance","params":["0x12"]}')).toMatchObject({ json: { error: { code: -32_602 } } })
    expect(await post('{"method":"eth_getBlockByNumber","params":["late"]}')).toMatchObject({ json: { error: { code: -32_602 } } })
    expect(await post('{"method":"eth_getBalance","params":["0x12","0x77"]}')).toMatchObject({ json: { error: {} } })
    expect(await post('{"method":"eth_sendRawTransaction","params":["0xzz"]}')).toMatchObject({ json: { error: { code: -32_602 } } })
    expect(await post(`[${'{"method":"eth_chainId"},'.repeat(1_000)}{}]`)).toMatchObject({ status: 413 })
    expect((await post('x'.repeat(5_000_000))).status).toBe(413)
  })

  it('serves the beacon API methods for blobs, and 404 for others', async () => {
    const get = async (path: string) => (await fetch(`${l1.beaconUrl}${path}`)).status
    expect(await get('/eth/v1/config/spec')).toBe(200)
    expect(await get('/eth/v1/beacon/blobs/0')).toBe(200)
    expect(await get('/eth/v1/beacon/blobs/99')).toBe(404)
    expect(await get('/eth/v1/beacon/blob_sidecars/x')).toBe(404)
    expect(await get('/')).toBe(404)
  })

  it('reports a port in use (DEVNET_L1_PORT)', async () => {
    const port = Number(new URL(l1.rpcUrl).port)
    await expect(startMemoryL1({ ...devnetL1Options, port })).rejects.toMatchObject({ code: 'DEVNET_L1_PORT', data: { port } })
  })

  it('starts in less than 100 ms', async () => {
    const from = performance.now()
    await using other = await startMemoryL1(devnetL1Options)
    expect(performance.now() - from).toBeLessThan(100)
    expect(other.genesis).toEqual(l1.genesis)
  })
})
