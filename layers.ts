/**
 * The modules of `src/`: what each may import, and which of its files other modules may import. `test/architecture.test.ts` holds the code to it.
 * `imports` lists a whole module or, after a colon, one file of it (`evm:ports`). `public` lists paths without `.ts`; all other files are private
 * to their module, whatever folder they are in.
 */
export const modules: Readonly<Record<string, { readonly imports: readonly string[]; readonly public: readonly string[] }>> = {
  lib: {
    imports: [],
    public: [
      'abortable',
      'boundedMap',
      'bytes',
      'caches',
      'clientName',
      'clock',
      'compress',
      'decompress',
      'endpoint',
      'fault',
      'faultCount',
      'faultText',
      'faults',
      'hex',
      'jsonDepth',
      'jsonHttp',
      'jwt',
      'keccak',
      'kzg/kzg',
      'kzg/kzgThread',
      'lazy',
      'listen',
      'log',
      'loopLag',
      'lru',
      'mcl',
      'memoryGuard',
      'metrics',
      'packedBytes',
      'peers/addressRange',
      'peers/inboundLimits',
      'peers/peersFile',
      'peers/portMapping/portMapping',
      'peers/rateLimit',
      'peers/restartedThread',
      'peers/snappy',
      'processMemory',
      'retry',
      'ripemd160',
      'rlp',
      'secp256k1',
      'errorTransfer',
      'logNames',
      'logTransfer',
      'supervisor',
      'sha256',
      'threadLink',
      'zstd',
    ],
  },
  // the state of a running node by its metrics, for commands, the local page and others
  monitor: { imports: ['chainspec:networkNames', 'types', 'lib'], public: ['metricText', 'rates', 'readings', 'sample', 'statusFacts'] },
  // the library export `basalt/proof`: a code path of its own, which shares nothing with the node
  proofVerifier: { imports: [], public: ['proof'] },
  types: {
    imports: ['lib'],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'account', 'ancestorSource', 'block', 'blockRef', 'chainDistance', 'chainView', 'deposit', 'executedTransaction', 'executionPeer',
      'flashblock', 'header', 'headerJson', 'ids', 'jsonRpc', 'jsonShape', 'l1FeeFacts', 'log', 'logMatcher', 'payload', 'peer',
      'pendingBlock', 'pooledTransaction', 'receipt', 'recoverSender', 'rollupStatus', 'signing', 'solidityError', 'stateDiff', 'stateDiffLayout',
      'stateDiffMerge', 'stateDiffTable', 'transaction', 'transactionJson', 'transactionPool', 'trust', 'withdrawal', 'worldReads',
    ],
  },
  chainspec: {
    imports: ['types', 'lib'],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'addresses', 'baseGenesis', 'baseTime', 'blobFee', 'blobSchedule', 'blockTime', 'configUpdate', 'create2Deployer', 'deposits',
      'eip1559Config', 'evmRules', 'faults', 'forkConfigs', 'forkId', 'forks', 'genesis', 'genesisJson', 'l1Info', 'l2OutputRoot', 'l2Ref',
      'networkNames', 'networks', 'opRules', 'precompileNames', 'publishedSchedule', 'reportedBlobs', 'rollupConfig', 'sourceHash', 'systemConfig',
      'unsupportedFork', 'upgradeTransactions',
    ],
  },
  trie: {
    imports: ['types', 'lib'],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'branchDelta', 'faults', 'leavesFrom', 'loadNode', 'nibbles', 'node', 'orderedRoot',
      'ports', 'proof', 'rangeProof', 'readTrie', 'trieDiff', 'tries',
      'witnessNodes',
    ],
  },
  store: {
    imports: ['types', 'lib'],
    public: [
      'bulk/bulkThread',
      'bulk/packedRows',
      'chainTables',
      'compaction',
      'environmentFiles',
      'environmentStats',
      'faults',
      'flush',
      'fileJournal',
      'freeSpace',
      'keys',
      'lmdb/dirLock',
      'lmdb/failure',
      'lmdbKv',
      'lmdbReader',
      'memoryJournal',
      'overlayKv',
      'ports',
      'proofsTables',
      'rowCheck',
      'schema',
      'segments/segmentCheck',
      'segments/segmentFiles',
      'segments/segmentRecords',
      'segments/segmentWriter',
      'tables',
    ],
  },
  nativeContracts: {
    imports: ['chainspec:evmRules', 'types', 'lib'],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'addresses', 'declaredErrors', 'host', 'kit/abi', 'kit/args', 'kit/ends', 'kit/results', 'kit/word', 'policy/ids', 'rules', 'run',
    ],
  },
  evm: {
    imports: ['nativeContracts', 'chainspec', 'types', 'lib'],
    public: ['faults', 'ports', 'traceEvents', 'traceableEvm', 'tracing', 'warmUp', 'wasmEvm'],
  },
  state: {
    imports: ['evm:ports', 'trie', 'store', 'chainspec', 'types', 'lib'],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'account', 'accountsDiff', 'addedRows', 'blockWitness', 'chainState', 'changeIndex', 'currentState', 'digests/digests', 'faults', 'fetchedState', 'fillProgress', 'genesisState', 'history',
      'historyCache', 'historyCheck', 'loadMark', 'moveNodeChanges', 'nodeHistory', 'partialState',
      'nodeRow', 'provenState', 'pruneHistory', 'restoredHistory', 'rootParts', 'rowState', 'rows', 'runIndex', 'stateCheck',
      'stateLayer', 'stateRoot', 'stateSource', 'stateStack', 'witnessState', 'worldReads', 'worldState',
    ],
  },
  engine: {
    imports: ['trie:proof', 'trie:orderedRoot', 'chainspec', 'types', 'lib'],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'blockJson', 'canonical', 'engineApi', 'engineApiError', 'engineHttp', 'faults', 'jsonFields', 'metrics', 'payloadHeader',
      'payloadJson', 'port', 'versions',
    ],
  },
  block: {
    imports: ['engine', 'state', 'evm', 'trie', 'chainspec', 'types', 'lib'],
    public: [
      'building/buildBlock',
      'building/buildFlashblocks',
      'building/buildFromPool',
      'building/buildPool',
      'execution/applyTransaction',
      'execution/authorizations',
      'execution/blockEnv',
      'execution/blockInput',
      'execution/executeBlock',
      'execution/executedBlock',
      'execution/executionGuard',
      'execution/executionWatch',
      'execution/payloadBlock',
      'execution/pendingHeader',
      'execution/readKeys',
      'execution/receipts',
      'execution/runTransactions',
      'execution/senders',
      'execution/stateAbove',
      'execution/systemCalls',
      'execution/transactionPlaces',
      'executionConfig',
      'faults',
      'fees/baseFee',
      'fees/l1BlockSlots',
      'fees/l1DataFee',
      'fees/l1FeeFacts',
      'fees/opFees',
      'fees/operatorFee',
      'genesisBlock',
      'stateless',
      'validation/blockRules',
      'validation/gasLimitRule',
      'validation/intrinsicGas',
      'validation/transactionValidity',
      'validation/verifyPayload',
    ],
  },
  pending: {
    imports: ['block', 'state', 'evm', 'trie', 'chainspec', 'types', 'lib'],
    public: ['executedFlashblocks', 'pendingChain', 'pendingPort', 'pendingState'],
  },
  blockchain: {
    imports: ['pending', 'block', 'engine', 'state', 'evm', 'store', 'trie:orderedRoot', 'trie:tries', 'chainspec', 'types', 'lib'],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'base/baseBlocks', 'base/installBase', 'base/olderBlocks', 'baseTrust', 'chainStore', 'completedEngine', 'check/blockCheck', 'check/logIndexCheck', 'check/placeCheck', 'commit/committer', 'execution',
      'heads/headRecord', 'importPayloads', 'logIndex/logIndex', 'pruning/pruner', 'pruning/retention', 'segments/buildSegments',
      'segments/rowPruner', 'segments/segmentCut', 'segments/segmentMover', 'stageTimes', 'view/chainView', 'view/olderStates', 'view/sharedSnapshot',
      'view/unsealedBlocks',
    ],
  },
  proofs: {
    imports: ['blockchain', 'block:faults', 'state', 'store', 'trie', 'types', 'lib'],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'checkProofs', 'copiedDigests', 'faults', 'metrics', 'olderStates', 'openProofs', 'proofStore', 'proofsThread', 'recorder', 'regions', 'valueRow', 'verifyProofs',
      'wanted',
    ],
  },
  txpool: { imports: ['blockchain', 'block', 'state', 'store', 'chainspec', 'types', 'lib'], public: ['txPool'] },
  executionThread: {
    // biome-ignore format: one name on a line would take this file above its bound
    imports: ['txpool', 'proofs', 'blockchain', 'pending', 'block', 'engine', 'evm', 'state', 'store', 'trie', 'chainspec', 'types', 'lib'],
    public: [
      'commitThread',
      'executionReader',
      'executionThread',
      'metrics',
      'roots/rootThreads',
      'senderThreads',
      'wire/packedBlocks',
      'wire/protocol',
    ],
  },
  derive: {
    imports: ['chainspec', 'types', 'lib'],
    public: ['batchEncoder', 'codec/blob', 'codec/channel', 'codec/frame', 'depositsOnly', 'pipeline', 'ports', 'sequencing'],
  },
  consensus: {
    imports: ['engine', 'derive', 'chainspec', 'types', 'lib'],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'consensus', 'driver', 'faults', 'follow', 'forkGate', 'metrics', 'ports', 'safeHeadStore', 'sequencer',
      'status', 'syncStatus', 'waitLadders', 'waits',
    ],
  },
  trust: {
    imports: ['trie:proof', 'state:account', 'chainspec', 'types', 'lib'],
    public: ['faults', 'metrics', 'ports', 'trust'],
  },
  l1: {
    imports: ['derive:ports', 'consensus:ports', 'trust:ports', 'trie:orderedRoot', 'chainspec', 'types', 'lib'],
    public: ['cache', 'faults', 'l1Source', 'metrics', 'protocolVersionsWatch', 'race'],
  },
  l2: {
    imports: ['consensus:ports', 'engine', 'l1:race', 'state', 'trie', 'chainspec', 'types', 'lib'],
    public: ['faults', 'l2Source', 'metrics', 'proofsStatus', 'state/stateSources', 'state/witnessesAhead'],
  },
  p2p: {
    imports: ['consensus:ports', 'engine:payloadHeader', 'engine:port', 'chainspec', 'types', 'lib'],
    public: ['blockSigner', 'faults', 'identity', 'metrics', 'networks', 'p2p', 'thread/protocol'],
  },
  executionPeers: {
    imports: ['engine:payloadHeader', 'trie:orderedRoot', 'chainspec', 'types', 'lib'],
    public: ['executionPeers', 'faults', 'metrics', 'thread/protocol'],
  },
  flashblocks: {
    imports: ['executionThread:senderThreads', 'executionThread:wire/packedBlocks', 'pending:pendingPort', 'types', 'lib'],
    public: ['consumer', 'faults', 'feed', 'metrics', 'publisher'],
  },
  rpc: {
    imports: ['engine', 'chainspec', 'types', 'lib'],
    public: [
      'cache/blockCache',
      'callPorts',
      'codecs/paramError',
      'context',
      'errors',
      'faults',
      'filters/filters',
      'json',
      'limits/gates',
      'limits/rateLimit',
      'limits/rateTable',
      'meterPorts',
      'methods',
      'metrics',
      'pendingPorts',
      'ports',
      'registry',
      'results/byteList',
      'server/engineServer',
      'server/healthPages',
      'server/httpServer',
      'server/ipcServer',
      'server/slowCalls',
      'server/wsServer',
      'submitPorts',
      'subscriptions/pendingRounds',
      'tracePorts',
    ],
  },
  simulation: {
    // biome-ignore format: one name on a line would take this file above its bound
    imports: [
      'rpc:callPorts', 'rpc:meterPorts', 'rpc:tracePorts', 'rpc:json', 'blockchain', 'block', 'engine', 'state', 'evm', 'trie',
      'nativeContracts:addresses', 'chainspec', 'types', 'lib',
    ],
    public: ['call/callExecutor', 'call/callRuns', 'metering/meter', 'trace/tracing'],
  },
  // the page of a node in a browser: its data, its history, its built files
  page: { imports: ['rpc', 'engine:port', 'monitor', 'types', 'lib'], public: ['page', 'state'] },
  node: {
    // biome-ignore format: one name on a line would take this file above its bound
    imports: [
      'page', 'snapshot', 'simulation', 'rpc', 'flashblocks', 'executionPeers', 'p2p', 'l1', 'l2', 'trust', 'consensus', 'derive', 'executionThread', 'txpool', 'proofs', 'blockchain',
      'pending', 'block', 'engine', 'state', 'evm', 'store', 'trie', 'chainspec', 'types', 'lib',
    ],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'anchoredStart', 'executeFile', 'faultTable', 'firstStartHealth', 'health/readinessReasons', 'importFile', 'importRethSnapshot', 'node', 'nodeOptions', 'serving/rateLimits', 'serving/servers',
      'snapshotTrust', 'threads/rpcThreadCount',
    ],
  },
  database: {
    // biome-ignore format: one name on a line would take this file above its bound
    imports: [
      'executionThread:wire/protocol', 'proofs', 'blockchain', 'block', 'engine', 'state', 'store', 'trie:orderedRoot', 'types', 'lib',
    ],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'compact', 'exportBlocks', 'faults', 'migrate', 'openChain', 'proofs/changeRecorded', 'proofs/openBoth', 'proofs/proofsStatus',
      'proofs/verifyRecorded', 'prune', 'stats', 'verify',
    ],
  },
  snapshot: {
    imports: ['proofs', 'blockchain', 'block', 'state', 'store', 'trie', 'chainspec', 'types', 'lib'],
    // biome-ignore format: one name on a line would take this file above its bound
    public: [
      'create/createSnapshot', 'create/operatorKey', 'faults', 'format/manifest', 'reth/importReth', 'restore/restoreSnapshot', 'serveSnapshot', 'trustPort',
    ],
  },
  batcher: { imports: ['derive', 'chainspec', 'types', 'lib'], public: ['batcher', 'faults', 'metrics', 'ports'] },
  devnet: {
    imports: ['node', 'page', 'batcher', 'rpc', 'block', 'state', 'evm', 'nativeContracts', 'trie', 'derive', 'chainspec', 'types', 'lib'],
    public: [
      'accounts',
      'agreement',
      'b20/activation',
      'b20/names',
      'b20/policy',
      'b20/token',
      'choices',
      'l1Server',
      'demo',
      'deposit',
      'devnetChain',
      'exportedChain',
      'faults',
      'forkSchedule',
      'options',
      'ports',
      'recordedChain',
      'recordedL1',
      'remoteDevnet',
      'startDevnet',
      'status',
      'wallet',
      'withdrawal',
    ],
  },
  cli: {
    // biome-ignore format: one name on a line would take this file above its bound
    imports: [
      'node', 'devnet', 'database', 'snapshot', 'monitor', 'proofVerifier', 'store:freeSpace', 'block:fees/operatorFee',
      'nativeContracts:addresses', 'batcher:faults', 'derive:codec/blob', 'derive:codec/frame', 'chainspec', 'types', 'lib',
    ],
    public: [],
  },
}

/** Modules whose work is synchronous from end to end: an `async` function there is an error. */
export const synchronous: readonly string[] = ['evm', 'trie', 'state', 'derive']

/** Modules that also run in a browser: they import their own files and the packages listed here, and use no global of Node. */
export const inBrowser: Readonly<Record<string, readonly string[]>> = { proofVerifier: ['@noble/hashes/sha3.js'] }

/** Longest source file, in lines. */
export const maxLinesPerFile = 400

/** Most source files directly in one folder, tests not counted. */
export const maxFilesPerFolder = 40
