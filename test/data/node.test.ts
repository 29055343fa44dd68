import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { receiptFromJson } from '#l1/receiptJson'
import { toHex } from '#lib/hex'
import { rpcCall, startCli } from '#test/harness/process/cliProcess'
import { divergences } from '#test/harness/rpc/divergences'
import { compareExchanges, readExchangesIn } from '#test/harness/rpc/exchanges'
import { readSharedJson, sharedDataDir } from '#test/harness/sharedData'
import { encodeReceipt } from '#types/receipt'

const folder = mkdtempSync(join(tmpdir(), 'basalt-node-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Starts the recorded L1 as a process. It also writes the chain's genesis file in geth's format. */
async function serveRecordedL1(chainDir: string, port: number, genesisPath: string): Promise<ChildProcess> {
  const server = spawn(process.execPath, [resolve(sharedDataDir, '../tools/recorded-l1.mjs'), chainDir, String(port)], {
    env: { ...process.env, OUT: genesisPath },
    stdio: 'ignore',
  })
  for (let tries = 0; tries < 200; tries++) {
    if (existsSync(genesisPath) && (await fetch(`http://127.0.0.1:${port}/stats`).catch(() => undefined))) return server
    await delay(100)
  }
  throw new Error('recorded L1 did not start')
}

type RecordedBlock = { number: number; hash: string; rawReceipts: string[] }

/** Encodes a receipt from its JSON. */
function rawReceiptOf(json: Record<string, string>): string {
  const { depositNonce, depositReceiptVersion } = json
  return toHex(
    encodeReceipt({
      ...receiptFromJson(json),
      ...(depositNonce !== undefined && { depositNonce: BigInt(depositNonce) }),
      ...(depositReceiptVersion !== undefined && { depositReceiptVersion: BigInt(depositReceiptVersion) }),
    }),
  )
}

type Status = { current_l1: { number: number }; safe_l2: { number: number; hash: string }; finalized_l2: { number: number } }

it.each([
  ['op-bedrock-to-holocene', 19_601, 115],
  ['op-ecotone-to-jovian', 19_602, 163],
] as const)('node: derives and serves %s as a process, from rollup config, genesis and L1', async (name, port, finalized) => {
  const chainDir = join(sharedDataDir, 'chains', name)
  const [rollupPath, genesisPath] = [join(folder, `${name}.rollup.json`), join(folder, `${name}.genesis.json`)]
  copyFileSync(join(chainDir, 'rollup.json'), rollupPath)
  const l1Url = `http://127.0.0.1:${port}`
  const l1 = await serveRecordedL1(chainDir, port, genesisPath)
  const reveal = (head: number) => fetch(`${l1Url}/control`, { method: 'POST', body: JSON.stringify({ head }) })
  try {
    const safeHeads = JSON.parse(readFileSync(join(chainDir, 'safe-heads.json'), 'utf8')) as number[]
    await reveal(3)
    await using cli = startCli([
      ...['node', '--rollup.config', rollupPath, '--genesis', genesisPath, '--datadir', join(folder, name)],
      ...[
        '--l1.rpc',
        l1Url,
        '--l1.beacon',
        l1Url,
        '--l1.poll-interval',
        '50',
        ...['--http.api', 'all', '--http.port'],
        '0',
        '--rollup.port',
        '0',
        '--ws.port',
        '0',
        '--metrics.port',
        '0',
        '--log.format',
        'json',
      ],
    ])
    const [, rpc = '', rollup = ''] = await cli.until(/"rpc":"([^"]+)","rollup":"([^"]+)"/)
    const status = async () => (await rpcCall(rollup, 'optimism_syncStatus')) as Status

    for (let number = 3; number < safeHeads.length; number++) {
      await reveal(number)
      const isThere = ({ current_l1, safe_l2 }: Status) => current_l1.number >= number && safe_l2.number >= (safeHeads[number] ?? 0)
      for (let tries = 0; !isThere(await status()) && tries < 600; tries++) await delay(20)
      const { current_l1, safe_l2 } = await status()
      expect({ l1: current_l1.number, safe: safe_l2.number }).toEqual({ l1: number, safe: safeHeads[number] })
    }
    for (const [number, safe] of safeHeads.entries()) {
      if (number < 3) continue
      const at = await rpcCall(rollup, 'optimism_safeHeadAtL1Block', [`0x${number.toString(16)}`])
      expect({ number, safeHead: (at as { safeHead: { number: number } }).safeHead.number }).toEqual({ number, safeHead: safe })
    }
    for (let tries = 0; (await status()).finalized_l2.number < finalized && tries < 100; tries++) await delay(50)

    const { blocks } = readSharedJson<{ blocks: RecordedBlock[] }>(`chains/${name}/l2.json.zst`)
    for (const { number, hash, rawReceipts } of blocks) {
      const at = `0x${number.toString(16)}`
      expect(await rpcCall(rpc, 'eth_getBlockByNumber', [at, false])).toMatchObject({ hash })
      const receipts = (await rpcCall(rpc, 'eth_getBlockReceipts', [at])) as Record<string, string>[]
      expect(receipts.map(rawReceiptOf)).toEqual(rawReceipts)
    }
    const { different, divergent, skipped } = await compareExchanges(rpc, rollup, readExchangesIn(chainDir))
    expect(different).toEqual([])
    expect({ divergent, skipped }).toEqual(divergences[name])
  } finally {
    l1.kill('SIGKILL')
  }
})
