import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { rpcCall, startCli } from '#test/harness/cliProcess'

type Report = {
  blocks: number
  equal: boolean
  clients: string
  http: string
  rollup: string
  examples: { url: string; method: string; params: unknown[] }[]
}

const leftovers = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('basalt-demo-'))

it('cli/demo: derives the recorded chain, serves the requests that it prints, and leaves nothing behind', async () => {
  const before = leftovers()
  await using cli = startCli(['demo', '--json', '--http.port', '0', '--rollup.port', '0'])
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
  expect(leftovers().filter((name) => !before.includes(name))).toEqual([])
}, 120_000)
