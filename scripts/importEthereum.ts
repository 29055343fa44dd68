// Executes blocks of Ethereum out of a file of consecutive RLP, on top of a data directory, which a comparison with another client can then read:
// `npm run import:ethereum -- FILE.rlp --genesis FILE --datadir DIR`. The genesis file is geth's genesis.json. A second run continues.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createWasmEvm } from '#evm/wasmEvm'
import { openLmdbKv } from '#store/lmdbKv'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { openEthereumChain } from '#test/ethereum/chain'
import { parseEthereumGenesis } from '#test/ethereum/genesis'
import { importRlp } from '#test/ethereum/importRlp'
import { createEthereumEvm } from '#test/reference/ethereumEvm'

const options = { genesis: { type: 'string' }, datadir: { type: 'string' } } as const
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const [file] = positionals
const { genesis, datadir } = values
if (file === undefined || genesis === undefined || datadir === undefined) {
  console.error('usage: npm run import:ethereum -- FILE.rlp --genesis FILE --datadir DIR')
  process.exit(2)
}
await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
agreeOnSchema(kv, chainSchema)
const spec = parseEthereumGenesis(JSON.parse(readFileSync(genesis, 'utf8')))
const chain = openEthereumChain({ kv, evm: createEthereumEvm(createWasmEvm()), spec })
const { imported, skipped, gas } = importRlp(chain, readFileSync(file))
const { number, hash } = chain.head
console.log(JSON.stringify({ imported, alreadyThere: skipped, head: number, hash, gas: Number(gas) }))
