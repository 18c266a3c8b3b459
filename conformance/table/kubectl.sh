# One command a line, in this order; each is run with bash in an empty folder, with the namespace demo.
kubectl create namespace demo
kubectl create namespace demo
kubectl api-versions
kubectl api-resources --sort-by=name
kubectl api-resources --namespaced=false -o name
kubectl create configmap m --from-literal=a=b --from-literal=c=d
kubectl create configmap m --from-literal=a=b
kubectl create secret generic s --from-literal=k=v
kubectl create secret docker-registry r --docker-username=u --docker-password=p --docker-server=x
kubectl create serviceaccount sa
kubectl create role r --verb=get,list --resource=pods
kubectl create rolebinding rb --role=r --user=u
kubectl create clusterrole cr --verb=get --resource=nodes
kubectl create clusterrolebinding crb --clusterrole=cr --user=u
kubectl create deployment web --image=nginx --replicas=2
kubectl create job j --image=busybox -- echo hi
kubectl create cronjob c --image=busybox --schedule='* * * * *' -- echo hi
kubectl create job j2 --from=cronjob/c
kubectl create service clusterip sc --tcp=80:8080
kubectl create service nodeport sn --tcp=80:8080
kubectl create service externalname se --external-name=a.example
kubectl create service loadbalancer sl --tcp=80:8080
kubectl create ingress i --rule='a.example/*=sc:80'
kubectl create quota q --hard=pods=50
kubectl create poddisruptionbudget b --selector=app=web --min-available=1
kubectl create priorityclass pc --value=5 --description=x
kubectl create token sa | tr -c . x | tr -d x
kubectl run p --image=nginx --labels=app=p
kubectl run p --image=nginx
kubectl expose deployment web --port=80
kubectl autoscale deployment web --max=3 --cpu-percent=50
kubectl get all
kubectl get all -o name
kubectl get cm,secret,sa,role,rolebinding,quota,pdb,ingress,priorityclass
kubectl get pods -o wide --show-labels
kubectl get pod p -o yaml
kubectl get deployment web -o json
kubectl get service web sn sl -o yaml
kubectl get hpa web -o yaml
kubectl get pod none
kubectl get bogus
kubectl get pods -l app=p -o jsonpath='{.items[*].spec.containers[*].image}'
kubectl get pods -o custom-columns=NAME:.metadata.name,POLICY:.spec.restartPolicy
kubectl get pods --field-selector=status.phase=Pending -o name
kubectl get pods --field-selector=bogus=x
kubectl get nodes
kubectl describe pod p
kubectl describe deployment web
kubectl describe service web
kubectl describe configmap m | sort
kubectl describe secret s
kubectl describe job j
kubectl describe cronjob c
kubectl describe ingress i
kubectl describe namespace demo
kubectl describe role r
kubectl explain pod.spec.restartPolicy | head -5
kubectl explain deployments --api-version=apps/v1 | head -5
kubectl explain hpa.spec --api-version=autoscaling/v1 | grep '^ *[a-z]'
kubectl explain bogus
kubectl label pod p x=y
kubectl label pod p x=z
kubectl label pod p x=z --overwrite
kubectl label pod p x-
kubectl label pod p 'x=not valid'
kubectl annotate pod p note='a b'
kubectl annotate pod p note-
kubectl set image deployment/web nginx=nginx:2
kubectl set env deployment/web A=b
kubectl set resources deployment/web --limits=cpu=1
kubectl set serviceaccount deployment/web sa
kubectl scale deployment web --replicas=3
kubectl scale deployment web --replicas=4 --current-replicas=2
kubectl scale job j --replicas=2
kubectl patch deployment web -p '{"spec":{"replicas":1}}'
kubectl patch deployment web --type=json -p '[{"op":"replace","path":"/spec/replicas","value":2}]'
kubectl patch deployment web --type=merge -p '{"spec":{"bogus":2}}'
kubectl patch deployment web --subresource=status --type=merge -p '{"status":{"replicas":1}}'
kubectl rollout status deployment/web --timeout=1s
kubectl rollout pause deployment/web
kubectl rollout resume deployment/web
kubectl rollout restart deployment/web
kubectl rollout history deployment/web
kubectl rollout undo deployment/web
kubectl wait pod p --for=condition=Ready --timeout=1s
kubectl wait pod p --for=jsonpath='{.status.phase}'=Pending --timeout=5s
kubectl wait pod none --for=delete --timeout=1s
kubectl wait pod p --for=delete --timeout=1s
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: b}\n' > m.yaml; kubectl apply -f m.yaml
kubectl apply -f m.yaml
sed -i 's/a: b/a: c/' m.yaml; kubectl diff -f m.yaml | grep '^[+-] '
kubectl apply -f m.yaml
kubectl apply -f m.yaml --server-side
kubectl apply -f m.yaml --server-side --field-manager=other
sed -i 's/a: c/a: d/' m.yaml; kubectl apply -f m.yaml --server-side --field-manager=other
kubectl apply -f m.yaml --server-side --field-manager=other --force-conflicts
kubectl apply -f m.yaml --dry-run=server -o yaml
kubectl apply view-last-applied -f m.yaml
kubectl replace -f m.yaml
kubectl replace --force -f m.yaml
kubectl get cm applied -o yaml --show-managed-fields
EDITOR='sed -i s/c:.d/c:.e/' kubectl edit cm m
EDITOR=true kubectl edit cm m
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {bogus: 1, containers: [{name: c, image: x}]}\n' > bad.yaml; kubectl create -f bad.yaml
kubectl create -f bad.yaml --validate=warn --dry-run=server
kubectl create -f bad.yaml --validate=false --dry-run=server -o name
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {containers: [{name: A_}]}\n' > bad.yaml; kubectl create -f bad.yaml --dry-run=server
printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: bad}\nspec: {}\n' > bad.yaml; kubectl create -f bad.yaml --dry-run=server
printf 'apiVersion: v2\nkind: Pod\nmetadata: {name: bad}\n' > bad.yaml; kubectl create -f bad.yaml
kubectl auth can-i get pods
kubectl auth can-i '*' '*'
kubectl auth can-i --list | head -3
kubectl auth reconcile -f <(kubectl get role r -o yaml)
kubectl events
kubectl get events
kubectl taint node n a=b:NoSchedule
printf 'apiVersion: v1\nkind: Node\nmetadata: {name: n}\n' | kubectl create -f -
kubectl cordon n
kubectl uncordon n
kubectl taint node n a=b:NoSchedule
kubectl taint node n a=b:NoSchedule
kubectl taint node n a-
kubectl drain n
kubectl describe node n | grep -v '^ '
kubectl get node n -o yaml
kubectl create clusterrole agg --aggregation-rule=rbac.example.com/x=true -o yaml
kubectl create clusterrole nonres --verb=get --non-resource-url=/logs/*
kubectl create cronjob bad --image=busybox --schedule='bogus'
kubectl create poddisruptionbudget pb --selector=app=web --max-unavailable=50%
kubectl create priorityclass toohigh --value=2000000000
kubectl create ingress tls --class=c --rule='a.example/path*=svc:80,tls=sec' --default-backend=d:80 -o yaml
kubectl create service nodeport np --tcp=80:80 --node-port=31234
kubectl create service nodeport np2 --tcp=80:80 --node-port=31234
kubectl create namespace Bad
kubectl create configmap Bad_Name
kubectl create deployment two --image=nginx --image=busybox --port=80
kubectl get deploy,svc,job,cronjob,ing,pdb,quota,hpa -o wide
kubectl get role,rolebinding,sa,secret,cm -o wide
kubectl get crd,pv,pvc,sc,priorityclass,leases,csr,ingressclass
kubectl get clusterrole nonres agg
kubectl get cm --field-selector metadata.name!=m -o name
kubectl get svc --field-selector spec.type=NodePort -o name
kubectl get deploy web --subresource=scale
kubectl get deploy web --subresource=scale -o yaml
kubectl get pods --subresource=status
kubectl get --raw /bogus
kubectl get --raw /healthz/ping
kubectl get endpoints
kubectl describe quota q
kubectl describe pdb pb
kubectl describe clusterrole agg nonres
kubectl describe hpa web
kubectl apply view-last-applied deploy web
kubectl apply set-last-applied -f m.yaml --create-annotation
mkdir -p k; printf 'resources: [m.yaml]\nnamePrefix: k-\n' > k/kustomization.yaml; printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n' > k/m.yaml; kubectl apply -k k
kubectl diff -k k
kubectl delete -k k
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dup}\ndata: {a: 5}\n' | kubectl apply -f -
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dup}\nbogus: 5\n' | kubectl apply --server-side -f -
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dup, namespace: other}\n' | kubectl apply -n other -f -
kubectl patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"y"}]}}}}'
kubectl patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}'
kubectl patch deploy web --type=json -p '[{"op":"test","path":"/spec/replicas","value":9}]'
kubectl patch deploy web -p '{"spec":{"selector":{"matchLabels":{"other":"x"}}}}'
kubectl patch svc np -p '{"spec":{"type":"ClusterIP"}}'
kubectl label cm --all all=yes
kubectl annotate deploy web k=v; kubectl get deploy web -o jsonpath='{.metadata.generation}'
kubectl scale deploy web two --replicas=1
kubectl scale deploy web --replicas=-1
kubectl set image deploy/web none=nginx:3
kubectl set env deploy/web --list
kubectl set resources deploy/web --requests=cpu=2 --limits=cpu=1
kubectl set selector svc np app=x
kubectl rollout history deploy/web --revision=2
kubectl rollout undo deploy/web --to-revision=5
kubectl rollout restart job/j
kubectl run priority --image=x --overrides='{"spec":{"priorityClassName":"system-node-critical"}}' -o jsonpath='{.spec.priority}'
kubectl run priority2 --image=x --overrides='{"spec":{"priorityClassName":"none"}}'
kubectl expose pod p --name=other --port=80 --target-port=8080 --type=NodePort
kubectl debug p --image=busybox --profile=general --container=dbg --attach=false
kubectl logs deploy/web
kubectl logs p -c none
kubectl exec p -c none -- ls
kubectl port-forward svc/none 0:80
kubectl wait deploy/web --for=condition=Available --timeout=1s
kubectl wait cm/none --for=create --timeout=1s
kubectl auth can-i create deployments
kubectl api-resources --categories=all -o name | sort
kubectl explain deploy.spec.strategy --recursive | grep '^ *[a-z]'
kubectl get deploy web -o yaml | sed 's/resourceVersion: .*/resourceVersion: "1"/' | kubectl replace -f -
kubectl get --raw /readyz
kubectl get --raw /api/v1/namespaces/demo/pods/none
kubectl logs none
kubectl logs p
kubectl exec p -- ls
kubectl attach p
kubectl port-forward pod/p 0:80
kubectl cp p:/x x
kubectl proxy --port=0 --bogus
kubectl top pods
kubectl delete cm m
kubectl delete cm m
kubectl delete cm m --ignore-not-found
kubectl delete deployment web --cascade=orphan --wait=false
kubectl delete job j --cascade=background
kubectl delete job j2 --cascade=foreground --wait=false
kubectl delete pod p --grace-period=0 --force
kubectl delete pods --all
kubectl delete secret -l bogus=x
kubectl delete ingress,pdb --all
kubectl delete -f m.yaml
kubectl get pods
