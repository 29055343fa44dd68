import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { count } from '../src/cli/textLayout.ts'
import { blockPath, txPath } from './route.ts'
import { callAll } from './rpc.ts'

type Fields = Readonly<Record<string, unknown>>

const dash = '–'
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const text = (value: unknown): string => (typeof value === 'string' && value !== '' ? value : dash)
const number = (value: unknown): string => (typeof value === 'string' && /^0x[0-9a-f]+$/.test(value) ? count(BigInt(value)) : dash)
const bigOf = (value: unknown): bigint | undefined => (typeof value === 'string' && /^0x[0-9a-f]+$/.test(value) ? BigInt(value) : undefined)
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Formats wei as ether without losing a digit. */
function ether(value: unknown): string {
  const wei = bigOf(value)
  if (wei === undefined) return dash
  const fraction = (wei % 10n ** 18n).toString().padStart(18, '0').replace(/0+$/, '')
  return `${count(wei / 10n ** 18n)}${fraction === '' ? '' : `.${fraction}`} ETH`
}

const gwei = (value: unknown): string => {
  const wei = bigOf(value)
  return wei === undefined ? dash : `${Number(wei) / 1e9} gwei`
}

function timeOf({ timestamp, timestampMs }: Fields): string {
  const ms = bigOf(timestampMs) ?? (bigOf(timestamp) ?? 0n) * 1_000n
  return new Date(Number(ms)).toISOString()
}

/** Answers of the node to calls that depend on a key. */
type Looked =
  | { readonly kind: 'waits' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'done'; readonly results: readonly unknown[] }

function useCalls(key: string, calls: Parameters<typeof callAll>[0]): Looked {
  const [looked, setLooked] = useState<Looked>({ kind: 'waits' })
  useEffect(() => {
    let isOver = false
    const show = (result: Looked): void => {
      if (!isOver) setLooked(result)
    }
    setLooked({ kind: 'waits' })
    callAll(calls).then(
      (results) => show({ kind: 'done', results }),
      (error: unknown) => show({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) }),
    )
    return () => {
      isOver = true
    }
  }, [key])
  return looked
}

function Rows({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  return (
    <dl class="rows">
      {rows.map(([name, value]) => (
        <div key={name} class="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function NoSuch({ looked, what }: { readonly looked: Looked; readonly what: string }): JSX.Element {
  if (looked.kind === 'waits') return <p class="empty">Reading …</p>
  return <p class="empty">{looked.kind === 'failed' ? `The node refused: ${looked.reason}` : `There is no such ${what}.`}</p>
}

const page = 100

function Transactions({ hashes }: { readonly hashes: readonly unknown[] }): JSX.Element {
  const [shown, setShown] = useState(page)
  return (
    <>
      <h3>{count(hashes.length)} transactions</h3>
      <ol class="hashes">
        {hashes.slice(0, shown).map((hash) => (
          <li key={text(hash)}>
            <a href={txPath(text(hash))}>{text(hash)}</a>
          </li>
        ))}
      </ol>
      {hashes.length > shown && (
        <button type="button" onClick={() => setShown(shown + page)}>
          Show {Math.min(page, hashes.length - shown)} more
        </button>
      )}
    </>
  )
}

/** @param id number, hash or label of a block */
export function BlockView({ id }: { readonly id: string }): JSX.Element {
  const isHash = /^0x[0-9a-fA-F]{64}$/.test(id)
  const at = /^\d+$/.test(id) ? `0x${BigInt(id).toString(16)}` : id
  const looked = useCalls(`block ${id}`, [[isHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber', at, false]])
  const block = looked.kind === 'done' ? looked.results[0] : undefined
  if (!isFields(block)) return <NoSuch looked={looked} what="block" />
  const above = bigOf(block['number']) ?? 0n
  return (
    <section class="card">
      <h2>Block {number(block['number'])}</h2>
      <p>
        <a href={blockPath(text(block['parentHash']))}>Parent</a> · <a href={blockPath(String(above + 1n))}>Next block</a>
      </p>
      <Rows
        rows={[
          ['hash', <code key="hash">{text(block['hash'])}</code>],
          ['time', timeOf(block)],
          ['gas used', `${number(block['gasUsed'])} of ${number(block['gasLimit'])}`],
          ['base fee', gwei(block['baseFeePerGas'])],
          ['fee recipient', <code key="miner">{text(block['miner'])}</code>],
          ['state root', <code key="root">{text(block['stateRoot'])}</code>],
          ['extra data', <code key="extra">{text(block['extraData'])}</code>],
        ]}
      />
      <Transactions key={id} hashes={listOf(block['transactions'])} />
    </section>
  )
}

const shownLogs = 50

function Logs({ logs }: { readonly logs: readonly unknown[] }): JSX.Element | null {
  if (logs.length === 0) return null
  return (
    <>
      <h3>{count(logs.length)} logs</h3>
      <ol class="hashes">
        {logs
          .slice(0, shownLogs)
          .filter(isFields)
          .map((log) => (
            <li key={text(log['logIndex'])}>
              <code>{text(log['address'])}</code>
              <br />
              <code>{listOf(log['topics']).map(text).join(' ')}</code>
            </li>
          ))}
      </ol>
      {logs.length > shownLogs && <p>The first {shownLogs}; basalt receipt HASH prints all.</p>}
    </>
  )
}

export function TransactionView({ hash }: { readonly hash: string }): JSX.Element {
  const looked = useCalls(`tx ${hash}`, [
    ['eth_getTransactionByHash', hash],
    ['eth_getTransactionReceipt', hash],
  ])
  const [found, answer] = looked.kind === 'done' ? looked.results : []
  if (!isFields(found)) return <NoSuch looked={looked} what="transaction" />
  const receipt = isFields(answer) ? answer : {}
  const status = receipt['status'] === '0x1' ? 'succeeded' : receipt['status'] === '0x0' ? 'failed' : 'not in a block'
  const block = text(found['blockHash'])
  return (
    <section class="card">
      <h2>Transaction</h2>
      <Rows
        rows={[
          ['hash', <code key="hash">{text(found['hash'])}</code>],
          ['status', status],
          [
            'block',
            block === dash ? (
              dash
            ) : (
              <a key="block" href={blockPath(block)}>
                {number(found['blockNumber'])}
              </a>
            ),
          ],
          ['type', text(found['type'])],
          ['from', <code key="from">{text(found['from'])}</code>],
          ['to', <code key="to">{text(found['to'] ?? receipt['contractAddress'])}</code>],
          ['value', ether(found['value'])],
          ['nonce', number(found['nonce'])],
          ['gas used', `${number(receipt['gasUsed'])} of ${number(found['gas'])}`],
          ['gas price', gwei(receipt['effectiveGasPrice'])],
          ['L1 fee', ether(receipt['l1Fee'])],
          ['input', `${count(Math.max(0, text(found['input']).length - 2) / 2)} bytes`],
        ]}
      />
      <Logs logs={listOf(receipt['logs'])} />
    </section>
  )
}

const wanted = /^(?:\d{1,15}|0x[0-9a-fA-F]{64}|latest|safe|finalized|earliest)$/

/** Finds a block or a transaction. A hash may be of either. */
export function LookupForm(): JSX.Element {
  const [value, setValue] = useState('')
  const [problem, setProblem] = useState('')
  async function find(): Promise<void> {
    const id = value.trim()
    if (!wanted.test(id)) return setProblem('Give a block number, a hash of 32 bytes, latest, safe, finalized or earliest.')
    setProblem('')
    const isTransaction = id.length === 66 && isFields((await callAll([['eth_getTransactionByHash', id]]))[0])
    location.hash = isTransaction ? txPath(id) : blockPath(id)
  }
  const onSubmit = (event: Event): void => {
    event.preventDefault()
    find().catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
  }
  return (
    <search>
      <form class="lookup" onSubmit={onSubmit}>
        <label for="lookup">Block or transaction</label>
        <input
          id="lookup"
          value={value}
          spellcheck={false}
          autocomplete="off"
          placeholder="number or hash"
          aria-describedby="lookup-problem"
          onInput={(event) => setValue(event.currentTarget.value)}
        />
        <button type="submit">Show</button>
        <span id="lookup-problem" role="status">
          {problem}
        </span>
      </form>
    </search>
  )
}
