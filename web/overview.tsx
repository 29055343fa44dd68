import type { ComponentChildren, JSX } from 'preact'
import { count, latency, size, spanText } from '../src/cli/textLayout.ts'
import type { PageState } from '../src/page/state.ts'

type Sample = PageState['sample']
type Facts = Sample['status']

const dash = '–'
const rate = (value: number | null | undefined): string => (value == null ? dash : value < 99.95 ? value.toFixed(1) : count(value))

function Badge({ ready, failure }: { readonly ready: boolean | null; readonly failure: string | undefined }): JSX.Element {
  if (failure !== undefined) return <span class="badge bad">no answer: {failure}</span>
  if (ready === null) return <span class="badge">readiness unknown</span>
  return ready ? <span class="badge good">ready</span> : <span class="badge bad">not ready</span>
}

export function Header({ state, failure }: { readonly state: PageState | undefined; readonly failure: string | undefined }): JSX.Element {
  const status = state?.sample.status
  const chain = status === undefined ? '' : (status.network ?? `chain ${status.chainId}`)
  const facts = [chain, status?.mode, status?.fork, state?.version].filter((fact) => fact)
  return (
    <header>
      <h1>
        <a href="#/">Basalt</a>
      </h1>
      <p class="facts">{facts.join(' · ')}</p>
      <p role="status">
        <Badge ready={status?.ready ?? null} failure={failure} />
      </p>
    </header>
  )
}

function Card({ title, children }: { readonly title: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <section class="card">
      <h2>{title}</h2>
      <dl>{children}</dl>
    </section>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Head({ label, facts }: { readonly label: 'unsafe' | 'safe' | 'finalized'; readonly facts: Facts }): JSX.Element {
  const head = facts.heads[label]
  if (head === null) return <Fact name={label}>{dash}</Fact>
  return (
    <Fact name={label}>
      {count(head.number)} {head.ageSec !== null && <small>{spanText(head.ageSec)} old</small>}
    </Fact>
  )
}

function Heads({ facts }: { readonly facts: Facts }): JSX.Element {
  const { l1, sync } = facts
  return (
    <Card title="Heads">
      <Head label="unsafe" facts={facts} />
      <Head label="safe" facts={facts} />
      <Head label="finalized" facts={facts} />
      <Fact name="L1">
        {l1 === null ? dash : `${count(l1.head)}${l1.behindBlocks === null ? '' : `, derived ${count(l1.behindBlocks)} behind`}`}
      </Fact>
      <Fact name="sync">
        {sync.phase}
        {sync.leftSec !== null && sync.leftSec > 0 && `, ${spanText(sync.leftSec)} left`}
      </Fact>
    </Card>
  )
}

function Import({ sample: { rates, levels } }: { readonly sample: Sample }): JSX.Element {
  const [busiest] = Object.entries(rates?.stages ?? {}).toSorted(([, a], [, b]) => b - a)
  return (
    <Card title="Import">
      <Fact name="blocks">{rate(rates?.blocksPerSec)}/s</Fact>
      <Fact name="gas">{rates?.gasPerSec == null ? dash : rate(rates.gasPerSec / 1e6)} Mgas/s</Fact>
      <Fact name="transactions">{rate(rates?.transactionsPerSec)}/s</Fact>
      <Fact name="busiest stage">{busiest === undefined ? dash : `${busiest[0]} ${(busiest[1] * 100).toFixed(0)} % of a core`}</Fact>
      <Fact name="pool">
        {levels?.poolPending == null ? dash : `${count(levels.poolPending)} pending, ${count(levels.poolQueued ?? 0)} queued`}
      </Fact>
    </Card>
  )
}

function Calls({ sample: { rates } }: { readonly sample: Sample }): JSX.Element {
  const used = (rates?.calls ?? []).filter(({ perSec }) => perSec > 0)
  return (
    <Card title="JSON-RPC">
      {used.length === 0 && <Fact name="calls">none now</Fact>}
      {used.map((one) => (
        <Fact key={one.class} name={one.class}>
          {rate(one.perSec)}/s <small>p99 {latency(one.p99Sec)}</small>
        </Fact>
      ))}
      <Fact name="refused">{rate(rates?.refusedPerSec)}/s</Fact>
    </Card>
  )
}

function Machine({ sample: { status, levels } }: { readonly sample: Sample }): JSX.Element {
  const { memory, disk, peers } = status
  const left = disk?.leftSec == null ? '' : disk.leftSec === 'never' ? ', not filling' : `, full in ${spanText(disk.leftSec)}`
  return (
    <Card title="Machine and network">
      <Fact name="memory">{memory === null ? dash : `${size(memory.usedBytes)} of ${size(memory.limitBytes)}`}</Fact>
      <Fact name="disk">{disk === null ? dash : `${size(disk.freeBytes)} free${left}`}</Fact>
      <Fact name="chain">{disk === null ? dash : size(disk.storeBytes)}</Fact>
      <Fact name="peers">{peers === null ? dash : count(peers)}</Fact>
      <Fact name="L1 calls per block">
        {Object.entries(levels?.l1PerBlock ?? {})
          .map(([api, calls]) => `${api} ${rate(calls)}`)
          .join(', ') || dash}
      </Fact>
    </Card>
  )
}

function Reasons({ problems }: { readonly problems: readonly string[] }): JSX.Element | null {
  if (problems.length === 0) return null
  return (
    <section class="reasons">
      <h2>Why the node is not ready</h2>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </section>
  )
}

export function Overview({ state: { sample } }: { readonly state: PageState }): JSX.Element {
  return (
    <>
      <Reasons problems={sample.status.problems} />
      <div class="cards">
        <Heads facts={sample.status} />
        <Import sample={sample} />
        <Calls sample={sample} />
        <Machine sample={sample} />
      </div>
    </>
  )
}
