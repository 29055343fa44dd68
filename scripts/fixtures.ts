/**
 * Makes the repository's compressed files from the recorded data: genesis files, upgrade transactions, recorded chains with their RPC exchanges.
 * usage: node scripts/fixtures.ts FOLDER_OF_RECORDED_DATA
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

type Json = Record<string, unknown>

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('usage: node scripts/fixtures.ts FOLDER_OF_RECORDED_DATA')
  process.exit(2)
}
const root = resolve(import.meta.dirname, '..')

function readText(name: string): string {
  const bytes = readFileSync(join(folder ?? '', name))
  return (name.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes).toString()
}

const read = (name: string): Json => JSON.parse(readText(name)) as Json
const write = (name: string, value: unknown): void => writeText(name, JSON.stringify(value))

function writeText(name: string, text: string): void {
  const plain = Buffer.from(text)
  const params = {
    [constants.ZSTD_c_compressionLevel]: 22,
    [constants.ZSTD_c_windowLog]: 24,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  }
  const bytes = zstdCompressSync(plain, { params, pledgedSrcSize: plain.length })
  mkdirSync(resolve(root, name, '..'), { recursive: true })
  writeFileSync(join(root, name), bytes)
  console.log(`${name}: ${bytes.length} bytes`)
}

const { keccak: _, ...upgrades } = read('chain/upgrade-transactions.json')
write('src/chainspec/data/upgradeTransactions.json.zst', upgrades)
write('src/chainspec/data/base.genesis.json.zst', read('chain/base-mainnet.genesis.json'))
write('src/chainspec/data/baseSepolia.genesis.json.zst', read('chain/base-sepolia.genesis.json'))

for (const name of ['op-bedrock-to-holocene', 'op-ecotone-to-jovian']) {
  const chain = `chains/${name}`
  const l2 = read(`${chain}/l2.json.zst`)
  const { note: _note, ...l1 } = read(`${chain}/l1.json.zst`)
  write(`src/devnet/data/${name}.l1.json.zst`, l1)
  write(`src/devnet/data/${name}.l2.json.zst`, {
    rollup: read(`${chain}/rollup.json`),
    config: l2['config'],
    genesisTimestamp: l2['genesisTimestamp'],
    extraAlloc: l2['extraAlloc'],
    contracts: l2['contracts'],
    blocks: (l2['blocks'] as Json[]).map(({ hash, raw, rawReceipts }) => ({ hash, raw, rawReceipts })),
    safeHeads: read(`${chain}/safe-heads.json`),
  })
  const files = readdirSync(join(folder, chain, 'rpc')).sort()
  const exchanges = files.map((file) => readText(`${chain}/rpc/${file}`).trimEnd())
  writeText(`test/fixtures/exchanges/${name}.io.zst`, `${exchanges.join('\n\n')}\n`)
}

for (const number of [26207960, 26207962, 26208384]) {
  const name = `op-sepolia-${number}.json.zst`
  writeFileSync(join(root, 'test/fixtures', name), readFileSync(join(folder, 'blocks', name)))
}

const peers: Json = {}
for (const client of ['op-node-1.19.6', 'op-node-2024', 'base-consensus']) {
  const { chainId, signer, rollup } = read(`p2p/${client}/node.json`)
  const lines = readText(`p2p/${client}/gossip.jsonl.zst`).trimEnd().split('\n')
  const messages = lines.map((line) => JSON.parse(line) as Json)
  // the last two of each topic: their ids were announced by the client
  const sample = messages.filter(({ topic }, at) => messages.slice(at + 1).filter((other) => other['topic'] === topic).length < 2)
  peers[client] = { chainId, signer, rollup, messages: sample, requests: read(`p2p/${client}/requests.json`) }
}
write('test/fixtures/p2p.json.zst', peers)
