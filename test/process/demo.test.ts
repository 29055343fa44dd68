import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { rpcCall, startCli } from '#test/harness/process/cliProcess'

type Report = {
  blocks: number
  equal: boolean
  clients: string
  http: string
  rollup: string
  examples: { url: string; method: string; params: unknown[] }[]
}

/** Parent folder of the demo's data directory, used by this test only. */
const folder = mkdtempSync(join(tmpdir(), 'basalt-demo-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('cli/commands/demo: derives the recorded chain, serves the requests that it prints, and deletes its files', async () => {
  await using cli = startCli(['demo', '--json', '--http.port', '0', '--rollup.port', '0'], { TMPDIR: folder })
  const [text] = await cli.until(/\{.*\}\n/)
  const report = JSON.parse(text) as Report
  expect(report).toMatchObject({ blocks: 120, equal: true, clients: 'op-node + op-geth' })
  for (const { url, method, params } of report.examples) expect(await rpcCall(url, method, params)).not.toBeNull()
  const head = await rpcCall(report.http, 'eth_blockNumber')
  expect(head).toBe('0x78')
  expect((await fetch(`${report.rollup}/readyz`)).status).toBe(200)

  const metrics = await (await fetch(`${report.rollup}/metrics`)).text()
  expect(metrics).toMatch(/^basalt_consensus_l2_block_number\{label="safe"\} 120$/m)

  cli.child.kill('SIGINT')
  const { code, stderr } = await cli.ended()
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(readdirSync(folder)).toEqual([])
}, 120_000)
