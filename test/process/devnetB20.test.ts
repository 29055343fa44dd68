import { createPublicClient, type Hex, http, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../src/cli/run.ts'
import { type Devnet, startDevnet } from '../../src/devnet/startDevnet.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { scriptedIo } from '../harness/l1/scriptedIo.ts'

const abi = parseAbi([
  'function name() view returns (string)',
  'function currency() view returns (string)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'event Memo(address indexed caller, bytes32 indexed memo)',
])
let devnet: Devnet
beforeAll(async () => {
  devnet = await startDevnet()
}, 60_000)
afterAll(() => devnet[Symbol.asyncDispose]())

/** Runs `basalt devnet b20 …`. */
async function b20(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const io = scriptedIo({ clock: systemClock })
  const port = new URL(devnet.urls.control).port
  const code = await runCli(['devnet', 'b20', ...args, '--control.port', port], io)
  return { code, ...io.written }
}
async function json(...args: readonly string[]): Promise<Record<string, string>> {
  const { code, out, err } = await b20(...args, '--json')
  expect([code, err]).toEqual([0, ''])
  return JSON.parse(out) as Record<string, string>
}
const addressOf = (index: number): Hex => devnet.accounts[index]?.address ?? '0x'

it('cli/commands/devnetB20: creates a stablecoin, mints and transfers it under a policy; the verifier has the same balances', async () => {
  const [owner, friend, other] = [addressOf(0), addressOf(1), addressOf(2)]
  const created = await json('create', '--name', 'Dollar', '--symbol', 'USDX', '--currency', 'USD')
  expect(created).toMatchObject({ activatedFeature: 'base.b20_stablecoin', admin: owner })
  const token = created['token'] as Hex
  expect(await json('create', '--name', 'Euro', '--symbol', 'EURX', '--currency', 'EUR')).not.toHaveProperty('activatedFeature')
  await json('mint', '--token', token, '--to', owner, '--amount', '100')
  const { id = '' } = await json('policy', 'create', '--type', 'blocklist', '--account', other)
  await json('policy', 'set', '--token', token, '--scope', 'receiver', '--id', id)
  const transferred = await json('transfer', '--token', token, '--to', friend, '--amount', '1.25', '--memo', 'invoice 7')

  const forbidden = await b20('transfer', '--token', token, '--to', other, '--amount', '1')
  expect(forbidden).toMatchObject({ code: 2, out: '' })
  expect(forbidden.err).toContain(`PolicyForbids(TRANSFER_RECEIVER_POLICY, ${id})`)
  await json('policy', 'remove', '--id', id, '--account', other)
  const last = await json('transfer', '--token', token, '--to', other, '--amount', '0.000001', '--from', '1')
  await json('policy', 'add', '--id', id, '--account', other)

  const verifier = createPublicClient({ transport: http(devnet.urls.verifier) })
  const block = Number(last['block'])
  await expect.poll(() => devnet.status().verifier.safe, { timeout: 60_000, interval: 100 }).toBeGreaterThanOrEqual(block)
  const read = (functionName: 'name' | 'currency' | 'totalSupply') => verifier.readContract({ address: token, abi, functionName })
  expect([await read('name'), await read('currency'), await read('totalSupply')]).toEqual(['Dollar', 'USD', 100_000_000n])
  const balances = [owner, friend, other].map((account) =>
    verifier.readContract({ address: token, abi, functionName: 'balanceOf', args: [account], blockTag: 'safe' }),
  )
  expect(await Promise.all(balances)).toEqual([98_750_000n, 1_249_999n, 1n])
  const memos = await verifier.getLogs({ address: token, event: abi[4], fromBlock: 0n })
  expect(memos.map(({ args, transactionHash }) => [args.caller?.toLowerCase(), args.memo, transactionHash])).toEqual([
    [owner, `0x${Buffer.from('invoice 7').toString('hex').padEnd(64, '0')}`, transferred['transaction']],
  ])
  expect(devnet.status().agreement).toMatchObject({ kind: 'agrees' })
  expect(devnet.status().blocks.perSec).toBeGreaterThan(0)

  const { out } = await b20('show', '--token', token)
  expect(out).toMatch(/^token: +0xb2/)
  expect(out).toContain(`receiver         ${id} (blocklist)`)
  expect(out).toContain(`   1  ${friend}  1.249999\n`)
  expect(await json('show', '--token', token)).toMatchObject({ supply: '100', decimals: 6, policies: { receiver: id, sender: '0' } })
}, 120_000)

it.each<[string, readonly string[], string]>([
  ['a mint by an account that is no minter', ['mint', '--to', 'TO', '--amount', '1', '--from', '3'], 'MINT_ROLE) '],
  ['a transfer without balance', ['transfer', '--to', 'TO', '--amount', '1'], 'InsufficientBalance('],
  ['an unknown policy', ['policy', 'set', '--scope', 'sender', '--id', '999'], 'PolicyNotFound(999)'],
])(
  'cli/commands/devnetB20: names the error of %s (CALL_REVERTED)',
  async (_what, args, says) => {
    const { token = '' } = await json('create', '--name', 'Gold', '--symbol', 'GLD')
    const { code, out, err } = await b20(...args.map((arg) => (arg === 'TO' ? addressOf(1) : arg)), '--token', token)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(says.trim())
    expect(err).toContain('(CALL_REVERTED)')
  },
  60_000,
)

it('cli/commands/devnetB20: reports an address without a token (NO_B20_TOKEN)', async () => {
  const { code, err } = await b20('show', '--token', addressOf(0))
  expect(code).toBe(2)
  expect(err).toContain('(NO_B20_TOKEN)')
})
