import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { createWalletClient, defineChain, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { runCli } from '../../src/cli/run.ts'
import { startDevnet } from '../../src/devnet/startDevnet.ts'
import { scriptedIo } from '../harness/l1/scriptedIo.ts'
import { sampleOf } from '../harness/sample.ts'

it('devnet: includes a transfer in a block, makes it safe on the verifier, and both nodes have the same bytes', async () => {
  await using devnet = await startDevnet({ blockTimeSec: 1, l1BlockTimeSec: 1, chainId: 77_001 })
  const { urls, accounts, chainId } = devnet
  const [sender] = accounts
  if (!sender) throw new Error('no account')
  const chainOf = (url: string) =>
    defineChain({
      id: chainId,
      name: 'devnet',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [url] } },
    })
  const client = (url: string) =>
    createWalletClient({
      account: privateKeyToAccount(sender.privateKey),
      chain: chainOf(url),
      transport: http(),
      pollingInterval: 50,
    }).extend(publicActions)
  const to = `0x${'ab'.repeat(20)}` as const
  const hash = await client(urls.rpc).sendTransaction({ to, value: 7n })
  const { blockNumber, status } = await client(urls.rpc).waitForTransactionReceipt({ hash })
  expect(status).toBe('success')
  const verifier = client(urls.verifier)
  await expect
    .poll(async () => (await verifier.getBlock({ blockTag: 'safe' })).number, { timeout: 60_000, interval: 100 })
    .toBeGreaterThanOrEqual(blockNumber)
  expect(await verifier.getBalance({ address: to, blockNumber })).toBe(7n)
  await expect.poll(() => devnet.status().agreement, { timeout: 10_000 }).toMatchObject({ kind: 'agrees', compared: expect.any(Number) })
  expect(await client(urls.l1).getChainId()).toBe(900)
}, 120_000)

const portFlags = [
  'http.port',
  'ws.port',
  'rollup.port',
  'l1.port',
  'verifier.port',
  'verifier.ws-port',
  'publisher.port',
  'control.port',
] as const

it.each(sampleOf(['control.port'], [...portFlags]))(
  'cli/commands/devnet: reports a port in use by its flag and leaves no process or file (--%s)',
  async (flag) => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const io = scriptedIo()
    const ports = portFlags.flatMap((name) => [`--${name}`, String(name === flag ? port : 0)])
    expect(await runCli(['devnet', '--l1', 'memory', '--fork', 'cobalt', ...ports], io)).toBe(2)
    taken.close()
    expect(io.written.out).toBe('')
    expect(io.written.err).toMatch(new RegExp(`^basalt: --${flag}: port ${port} .*is in use\\. .*\\n$`))
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`basalt-devnet-${process.pid}-`))).toEqual([])
  },
  30_000,
)
