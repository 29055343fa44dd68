import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import type { StatusFacts } from '#monitor/statusFacts'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { type ScriptedServer, serveNode } from '#test/harness/process/nodeServer'
import { runCli } from '../../run.ts'

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, clock = systemClock) {
  const io = scriptedIo({ clock, env })
  const code = await runCli(['status', ...args], io)
  return { code, ...io.written }
}

const nowSec = 1_800_000_000
const clock = { ...systemClock, nowMs: () => nowSec * 1_000 }
const hash = `0x${'ab'.repeat(32)}`
const quantity = (value: number): string => `0x${value.toString(16)}`
const blocks = (label: unknown): { result: unknown } => {
  const ageSec = { latest: 1, safe: 150, finalized: 900 }[String(label)] ?? 0
  return { result: { number: quantity(34_567_890 - ageSec), hash, timestamp: quantity(nowSec - ageSec) } }
}
const rpc: ScriptedServer['rpc'] = {
  eth_chainId: { result: '0x2105' },
  web3_clientVersion: { result: 'basalt/0.1.0' },
  eth_syncing: { result: false },
  net_peerCount: { result: '0x0' },
  eth_getBlockByNumber: ([label]) => blocks(label),
}
const metrics = `# HELP basalt_node_build_info Always 1
basalt_node_build_info{mode="all"} 1
basalt_node_fork_state{fork="denim"} 1
basalt_node_fork_state{fork="cobalt"} 0
basalt_consensus_fork_activation_seconds{fork="denim",source="built_in"} ${nowSec - 10}
basalt_consensus_fork_activation_seconds{fork="later",source="built_in"} ${nowSec + 864_000}
basalt_consensus_l1_block_number{label="latest"} 21000003
basalt_consensus_l1_block_number{label="derived"} 20990001
basalt_node_head_age_seconds{head="l1"} 8.25
basalt_node_head_age_seconds{head="l1_derived"} 120000
basalt_consensus_wait_seconds{reason="l1-head"} 12
basalt_consensus_wait_seconds{reason="l1-blobs"} 75
basalt_node_sync_left_seconds 7200
basalt_node_disk_left_seconds 2937600
basalt_node_disk_free_bytes 1.2e+12
basalt_node_store_bytes{store="chain"} 6e+11
basalt_node_store_bytes{store="consensus"} 4e+9
basalt_node_memory_bytes{kind="anonymous"} 2.5e+9
basalt_memory_limit_bytes 12e9
basalt_flashblocks_upstream_connections{health="up"} 2
basalt_flashblocks_pending_state 1
basalt_flashblocks_pending_block_number 34567891
basalt_flashblocks_pending_slice_entries 3
basalt_flashblocks_feed_last_message_seconds 0.123
basalt_proofs_recording_state 1
basalt_proofs_earliest_block_number 34000000
basalt_proofs_latest_block_number 34567880
basalt_proofs_lag_blocks 10
basalt_trust_grade_info{grade="derived"} 1
basalt_trust_grade_info{grade="given"} 0
basalt_hostile{a="\\"}\\n"} x
not a metric at all
`
const problem = 'derivation is at L1 block 20990001, 120000 s of L1 time behind\u001b[2J the L1 head, block 21000003'
const node: ScriptedServer = {
  rpc,
  pages: { '/metrics': { body: metrics }, '/readyz': { status: 503, body: JSON.stringify({ ready: false, problems: [problem] }) } },
}

it('cli/commands/status: prints the state of a syncing node in aligned lines, and exits with 1', async () => {
  await using served = await serveNode(node)
  const { code, out, err } = await run(['--url', served.url, '--metrics-url', served.url], {}, clock)
  expect({ code, err }).toEqual({ code: 1, err: '' })
  expect(out).toBe(`\
node            basalt/0.1.0, mode all
network         base (chain 8453)
fork            denim, later in 10 d
unsafe head     34,567,889, 1 s old, ${hash}
safe head       34,567,740, 2.5 min old, ${hash}
finalized head  34,566,990, 15 min old, ${hash}
L1              head 21,000,003, 8.3 s old, derived 20,990,001, 10,002 behind
sync            syncing, 2 h left
                waiting for l1-blobs for 75 s
trust           the start is derived
flashblocks     pending block 34,567,891 with 3, last message 0.1 s ago, 2 publishers connected
proofs          blocks 34,000,000 to 34,567,880, 10 behind the head
disk            1.2 TB free, full in 34 d; chain 604.0 GB
memory          2.5 GB of 12.0 GB
ready           no
                derivation is at L1 block 20990001, 120000 s of L1 time behind [2J the L1 head, block 21000003
`)
})

it('cli/commands/status: shows how much of a partial state is stored, and how many blocks lacked nothing', async () => {
  const blocks = Object.entries({ nothing: 97, witness: 2, parts: 1 }).map(
    ([lacked, value]) => `basalt_state_source_blocks_total{lacked="${lacked}"} ${value}\n`,
  )
  const pages = { '/metrics': { body: `${metrics}basalt_state_fill_ratio 0.125\n${blocks.join('')}` } }
  await using served = await serveNode({ ...node, pages })
  const args = ['--url', served.url, '--metrics-url', served.url]
  const { out } = await run(args, {}, clock)
  expect(out).toContain(`
state           12.50 % of the keys are stored
                97.0 % of the executed blocks lacked nothing
`)
  expect(JSON.parse((await run([...args, '--json'], {}, clock)).out)).toMatchObject({ fill: { ratio: 0.125, aheadRatio: 0.97 } })
})

it('cli/commands/status: prints the heads of JSON-RPC when the metrics do not answer, and names the silent part', async () => {
  await using served = await serveNode({ rpc })
  const { code, out } = await run(['--url', served.url, '--metrics-url', 'http://127.0.0.1:9', '--json'], {}, clock)
  const facts = JSON.parse(out) as StatusFacts
  expect(code).toBe(0)
  expect(facts).toMatchObject({ ready: null, network: 'base', sync: { phase: 'following' }, disk: null, proofs: null })
  expect(facts.heads.unsafe).toEqual({ number: 34_567_889, hash, ageSec: 1 })
  expect(facts.silent.map(({ part }) => part)).toEqual(['metrics', 'readyz'])
})

it('cli/commands/status: shows a consensus half, which has no JSON-RPC of the chain', async () => {
  const heads = ['unsafe', 'safe', 'finalized'].map(
    (label, at) => `basalt_consensus_l2_block_number{label="${label}"} ${90 - at}\nbasalt_node_head_age_seconds{head="${label}"} ${at}\n`,
  )
  await using half = await serveNode({
    ...node,
    rpc: { optimism_rollupConfig: { result: { l2_chain_id: 84_532 } } },
    pages: { ...node.pages, '/metrics': { body: metrics + heads.join('') } },
  })
  const { out } = await run(['--url', 'http://127.0.0.1:9', '--metrics-url', half.url, '--json'], {}, clock)
  const facts = JSON.parse(out) as StatusFacts
  expect(facts).toMatchObject({
    chainId: 84_532,
    network: 'base-sepolia',
    heads: { unsafe: { number: 90, hash: null, ageSec: 0 }, safe: { number: 89, ageSec: 1 } },
  })
  expect(facts.silent.map(({ part }) => part)).toEqual(['rpc'])
})

it('cli/commands/status: takes the ports of the environment of the node', async () => {
  await using served = await serveNode({ ...node, pages: { ...node.pages, '/readyz': { body: '{"ready":true}' } } })
  const env = { BASALT_HTTP_PORT: String(served.port), BASE_NODE_METRICS_PORT: String(served.port), BASE_NODE_METRICS_ADDR: '0.0.0.0' }
  const { code, out } = await run([], env, clock)
  expect(code).toBe(0)
  expect(out).toContain('ready           yes\n')
})

it.each<[string, ScriptedServer]>([
  ['no JSON', { rawAnswer: '<html>', pages: { '/readyz': { body: '<html>' }, '/metrics': { body: '\u0000{{{' } } }],
  [
    'results of other types',
    { rpc: { eth_chainId: { result: [] }, eth_getBlockByNumber: { result: 'x' }, web3_clientVersion: { result: {} } } },
  ],
  ['errors', { rpc: { eth_chainId: { error: { code: 1, message: 'a\nb' } } }, pages: { '/readyz': { body: '{"ready":1}' } } }],
])('cli/commands/status: survives a server that answers with %s', async (_what, script) => {
  await using served = await serveNode(script)
  const { code, err } = await run(['--url', served.url, '--metrics-url', served.url])
  expect([code, err]).toEqual([0, ''])
})

it('cli/commands/status: reports a node that does not answer in one line, exit code 4, without the credentials of its URL (NODE_SILENT)', async () => {
  const { code, out, err } = await run([
    '--url',
    'http://user:hunter22@127.0.0.1:9/k3y-of-an-account',
    '--metrics-url',
    'http://127.0.0.1:9',
  ])
  expect([code, out]).toEqual([4, ''])
  expect(err).toMatch(/^basalt: no node answers at 127\.0\.0\.1:9: .*start it with basalt node, or name its address.*\(NODE_SILENT\)\n$/)
  expect(err).not.toMatch(/hunter22|k3y/)
})
